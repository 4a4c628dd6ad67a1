import { createDeferred, type Deferred } from "../promises.ts";

/** Something that wants to write: a request that wants to run, or a reply that found the output full. */
export interface Job {
  /** Begins. Returns true if the job goes on after the call, and then tells the queue when it has ended. */
  start(): boolean;
  /** Whether the job was cancelled before it began. */
  readonly withdrawn: boolean;
}

/** What a {@linkcode JobQueue} is bound by. */
export interface JobQueueSettings {
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** Whether there is no room for what a job would write. */
  readonly outputFull: () => boolean;
}

/** As many jobs begin in one go before those that have begun may finish and fill the output. */
const STARTS_PER_TURN = 16;

/** The queue is swept when more withdrawn jobs than this stand in it, and more than others. */
const WITHDRAWN_KEPT = 256;

/**
 * Permits and the look-ahead behind them (rules V1, V2, V12). Jobs begin in order, at most so many at a time, and none
 * while the output is full. Who admits jobs asks for room first.
 */
export class JobQueue {
  readonly #settings: JobQueueSettings;
  #queue: Job[] = [];
  #head = 0;
  /** How many wait that were not withdrawn. */
  #queued = 0;
  #running = 0;
  #turnStarts = 0;
  #turnScheduled = false;
  #room: Deferred<void> | undefined;

  constructor(settings: JobQueueSettings) {
    this.#settings = settings;
  }

  /** How many have begun and not ended. */
  get running(): number {
    return this.#running;
  }

  /** Whether all permits are taken. */
  get busy(): boolean {
    return this.#running >= this.#settings.maxRunning;
  }

  /** How many wait to begin. */
  get queued(): number {
    return this.#queued;
  }

  /** Whether the look-ahead is used up. */
  get crowded(): boolean {
    return this.#queued >= this.#settings.maxQueued;
  }

  /** Resolves when there is room in the look-ahead, or the reader has another reason to look again. */
  room(): Promise<void> {
    if (!this.crowded) return Promise.resolve();
    this.#room ??= createDeferred();
    return this.#room.promise;
  }

  /** Begins a job, if it need not wait. Gives whether it has begun. */
  begin(job: Job): boolean {
    if (this.#head < this.#queue.length || !this.#mayStart()) return false;
    this.#queued++;
    this.#start(job);
    return true;
  }

  /** Begins a job, or queues it behind others. */
  admit(job: Job): void {
    if (this.begin(job)) return;
    this.#queued++;
    this.#queue.push(job);
    this.pump();
  }

  /** Does something behind the jobs that came before, unless it is withdrawn by then; it is done at once and needs no permit. */
  inTurn(act: () => void, isWithdrawn: () => boolean = () => false): void {
    this.admit({
      start() {
        act();
        return false;
      },
      get withdrawn() {
        return isWithdrawn();
      },
    });
  }

  /** Tells that a job which went on after its start has ended. */
  ended(): void {
    this.#running--;
    this.pump();
  }

  /** Lets a reader that waits for room look again, whether there is any or not. */
  wakeReader(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Tells that a queued job was withdrawn: its place is free at once. */
  withdrew(): void {
    this.#queued--;
    const withdrawn = this.#queue.length - this.#head - this.#queued;
    if (withdrawn > WITHDRAWN_KEPT && withdrawn > this.#queued) this.#sweep();
    if (!this.crowded) this.wakeReader();
  }

  /** Begins everything at once, whatever the bounds: the session ends. */
  startAll(): void {
    while (this.#head < this.#queue.length) this.#start(this.#shift());
    if (!this.crowded) this.wakeReader();
  }

  /** Begins what can begin. Called when the output has drained; the rest of the time the queue calls itself. */
  pump(): void {
    while (this.#head < this.#queue.length && this.#mayStart()) this.#start(this.#shift());
    if (!this.crowded) this.wakeReader();
  }

  /** Whether a job may begin now. If it is only for the others of this turn that it may not, the queue goes on by itself. */
  #mayStart(): boolean {
    const { maxRunning, outputFull } = this.#settings;
    if (this.#running >= maxRunning || outputFull()) return false;
    if (this.#turnStarts < STARTS_PER_TURN) return true;
    this.#scheduleTurn();
    return false;
  }

  #start(job: Job): void {
    if (job.withdrawn) return;
    this.#queued--;
    this.#running++;
    if (job.start()) this.#turnStarts++;
    else this.#running--;
  }

  /** Lets what has begun go on, in microtasks, before more begins. */
  #scheduleTurn(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    queueMicrotask(() => {
      this.#turnScheduled = false;
      this.#turnStarts = 0;
      this.pump();
    });
  }

  #shift(): Job {
    const job = this.#queue[this.#head++]!;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head >= 1_024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return job;
  }

  /** A client that asks and cancels in turns must not fill the memory. */
  #sweep(): void {
    this.#queue = this.#queue.slice(this.#head).filter(({ withdrawn }) => !withdrawn);
    this.#head = 0;
  }
}

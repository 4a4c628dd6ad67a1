/** Something that is wrong with an entry, and where. */
export interface EntryProblem {
  readonly field: string;
  readonly message: string;
  readonly offset: number;
  readonly variable?: string | undefined;
}

/** An entry keeps so many of them. */
const GREATEST_PROBLEMS = 1000;

/** How many problems the entries of a file may still keep together. Each keeps one in any case. */
export interface ProblemBudget {
  left: number;
}

/** Everything that is wrong with an entry, as far as anybody wants to know. */
export class ProblemList {
  readonly #problems: EntryProblem[] = [];
  readonly #budget: ProblemBudget;
  #count = 0;

  constructor(budget: ProblemBudget) {
    this.#budget = budget;
  }

  /** The problems, up to a thousand of them. */
  get kept(): readonly EntryProblem[] {
    return this.#problems;
  }

  /** How many there are, as far as was looked. */
  get count(): number {
    return this.#count;
  }

  /** Whether there are more than are kept: who finds one more need not look on. */
  get isFull(): boolean {
    return this.#count > this.#problems.length;
  }

  add(problem: EntryProblem): void {
    this.#count++;
    const { length } = this.#problems;
    if (length > 0 && (length >= GREATEST_PROBLEMS || this.#budget.left <= 0)) return;
    this.#problems.push(problem);
    this.#budget.left--;
  }
}

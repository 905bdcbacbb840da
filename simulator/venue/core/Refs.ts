/**
 * What became of every reference that came: executed at most once, refused for good, or void, which it then stays (A2-26).
 * The object that it made or changed is kept by its id and answered as it stands when somebody asks. Of more references than
 * are kept the oldest go whose objects have ended: nobody asks for them any more.
 */
import { Line } from "./Line.ts"

export interface Known {
  readonly outcome: "EXECUTED" | "REFUSED" | "VOID"
  readonly reason: string | null
  readonly at: number
  /** The ref of the order; ids of the others. */
  readonly order?: string
  readonly rfq?: number
  readonly contract?: number
  readonly swap?: number
}

/** What an executed or refused call is of. */
export type Subject = Pick<Known, "order" | "rfq" | "contract" | "swap">

export type RefsState = ReadonlyArray<readonly [ref: string, known: Known]>

/** Refs that are looked at, when there are too many, as one comes. */
const looks = 4

export class Refs {
  private readonly known: Map<string, Known>
  /** Those that are known, the oldest first; one whose object lives goes to the end again when its turn has come. */
  private readonly line = new Line<string>()
  private readonly kept: number
  private readonly isLive: (of: Known) => boolean

  constructor(kept: number, isLive: (of: Known) => boolean, state: RefsState = []) {
    this.kept = kept
    this.isLive = isLive
    this.known = new Map(state)
    for (const [ref] of state) this.line.push(ref)
  }

  get(ref: string): Known | null {
    return this.known.get(ref) ?? null
  }

  /** Keeps the first thing that is said of a ref. */
  settle(ref: string, known: Known): Known {
    const first = this.known.get(ref)
    if (first !== undefined) return first
    this.known.set(ref, known)
    this.line.push(ref)
    this.forget()
    return known
  }

  state(): RefsState {
    return this.line.all().map((ref) => [ref, this.known.get(ref) as Known])
  }

  /** A few at a time: should all objects live, one more ref costs no more than this. */
  private forget(): void {
    for (let n = 0; n < looks && this.line.size > this.kept; n++) {
      const oldest = this.line.shift() as string
      const known = this.known.get(oldest)
      if (known !== undefined && this.isLive(known)) this.line.push(oldest)
      else this.known.delete(oldest)
    }
  }
}

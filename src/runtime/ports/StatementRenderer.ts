/** Makes the bytes of a statement from its record alone: the same for ever, by the renderer that it names (STS-18, STS-31). */
import { Context, type Effect, type Stream } from "effect"
import type { StatementVersion } from "../../machines/statement/Statement.ts"
import type { Skeleton } from "../../machines/statement/StatementModel.ts"
import type { Unavailable } from "../engine/mailbox/ActorHost.ts"

/** What a statement is rendered from. */
export interface RenderJob {
  /** Whose statement it is: a partner's jobs are bounded. */
  readonly partnerId: number
  readonly form: "pdf" | "csv"
  readonly renderer: number
  readonly version: StatementVersion
  readonly sha256: string
  readonly skeleton: Skeleton
  /** Rows of each section. */
  readonly counts: ReadonlyArray<number>
  /** The next pieces of the canonical text behind one as they are packed, none at its end; a section of -1: no rows. */
  readonly pieces: (
    after: number
  ) => Effect.Effect<
    ReadonlyArray<{ readonly number: number; readonly section: number; readonly content: Uint8Array }>,
    Unavailable
  >
}

export class StatementRenderer extends Context.Service<
  StatementRenderer,
  {
    /** The bytes, made as they are read: whoever stops reading ends the work. */
    render(job: RenderJob): Stream.Stream<Uint8Array, Unavailable>
  }
>()("brokerage/runtime/ports/StatementRenderer") {}

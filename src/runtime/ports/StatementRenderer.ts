/**
 * Renders the bytes of a statement from its record alone. The renderer that the record names always produces the same bytes
 * (STS-18, STS-31).
 */
import { Context, type Effect, type Stream } from "effect"
import type { StatementVersion } from "../../machines/statement/Statement.ts"
import type { Skeleton } from "../../machines/statement/StatementModel.ts"
import type { Unavailable } from "../engine/mailbox/ActorHost.ts"

/** The input of a rendering. */
export interface RenderJob {
  /** The partner of the statement: each partner's jobs are limited. */
  readonly partnerId: number
  readonly form: "pdf" | "csv"
  readonly renderer: number
  readonly version: StatementVersion
  readonly sha256: string
  readonly skeleton: Skeleton
  /** The number of rows of each section. */
  readonly counts: ReadonlyArray<number>
  /**
   * The next packed pieces of the canonical text after the piece with this number; empty at the end of the text. A piece with
   * section -1 holds no rows.
   */
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
    /** The bytes, produced as they are read: the work ends when the reader stops. */
    render(job: RenderJob): Stream.Stream<Uint8Array, Unavailable>
  }
>()("brokerage/runtime/ports/StatementRenderer") {}

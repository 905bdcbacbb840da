/** What the service and a rendering thread say to one another. Each side asks before the other sends, so nothing piles up. */
import type { StatementVersion } from "../../../machines/statement/Statement.ts"
import type { Skeleton } from "../../../machines/statement/StatementModel.ts"

/** What a thread begins with. */
export interface RenderThreadData {
  /** Of ProcessorTurns.ts. */
  readonly turns: SharedArrayBuffer
}

/** What a rendering begins with. */
export interface JobHead {
  readonly form: "pdf" | "csv"
  readonly renderer: number
  readonly version: StatementVersion
  readonly sha256: string
  readonly skeleton: Skeleton
  readonly counts: ReadonlyArray<number>
}

export interface Piece<Content = string> {
  readonly section: number
  readonly content: Content
}
/** As it is stored: the thread unpacks it. */
export type PackedPiece = Piece<Uint8Array>

export type ToThread =
  | { readonly type: "job"; readonly head: JobHead }
  /** What was wanted; null: the text has ended. */
  | { readonly type: "piece"; readonly piece: PackedPiece | null }
  /** A chunk has gone to its reader. */
  | { readonly type: "taken" }

export type FromThread =
  | { readonly type: "want" }
  | { readonly type: "chunk"; readonly bytes: Uint8Array }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly reason: string }

/** Chunks that may be on their way to a reader; the thread waits for one to be taken. */
export const chunksOnTheWay = 4

/** What a renderer is given: the text piece by piece, and where its bytes go. */
export interface Rendering {
  readonly head: JobHead
  readonly next: () => Promise<Piece | null>
  readonly write: (bytes: Uint8Array) => Promise<void>
}

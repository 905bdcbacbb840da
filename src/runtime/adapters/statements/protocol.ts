/** The messages between the service and a rendering thread. Each side requests before the other sends, so no queue grows. */
import type { StatementVersion } from "../../../machines/statement/Statement.ts"
import type { Skeleton } from "../../../machines/statement/StatementModel.ts"

/** The start data of a thread. */
export interface RenderThreadData {
  /** Shared counters by which the threads take turns on the processors. */
  readonly turns: SharedArrayBuffer
}

/** The start data of a rendering. */
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
/** A piece as stored: the thread unpacks it. */
export type PackedPiece = Piece<Uint8Array>

export type ToThread =
  | { readonly type: "job"; readonly head: JobHead }
  /** The requested piece; null at the end of the text. */
  | { readonly type: "piece"; readonly piece: PackedPiece | null }
  /** The reader has taken a chunk. */
  | { readonly type: "taken" }

export type FromThread =
  | { readonly type: "want" }
  | { readonly type: "chunk"; readonly bytes: Uint8Array }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly reason: string }

/** The most chunks on their way to a reader; then the thread waits until one is taken. */
export const chunksOnTheWay = 4

/** The input of a renderer: the text piece by piece, and the receiver of its bytes. */
export interface Rendering {
  readonly head: JobHead
  readonly next: () => Promise<Piece | null>
  readonly write: (bytes: Uint8Array) => Promise<void>
}

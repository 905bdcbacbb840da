/** One subject as the host keeps it: its mailbox, its committed state when loaded, and what it is doing. Plain data. */
import type { Effect } from "effect"
import type { SubjectKey } from "../journal/Commit.ts"
import type { Command } from "./Command.ts"
import type { DispatchError } from "./DispatchError.ts"
import type { DryRun } from "./dryRun.ts"
import type { JournalUnavailable } from "../journal/Journal.ts"
import type { SubjectState } from "./SubjectState.ts"
import type { Written } from "./written.ts"

/** A command on its way, and whom to answer. */
export interface Envelope {
  readonly command: Command<unknown>
  readonly resume: (result: Effect.Effect<unknown, DispatchError>) => void
  /** Decided, and not written. */
  readonly dryRun: DryRun | null
  /** Is told what was written; null: its answer does not say it. */
  readonly written: Written | null
  tries: number
}

export interface Actor {
  readonly subject: SubjectKey
  readonly queue: Array<Envelope>
  readonly readers: Array<(state: SubjectState | JournalUnavailable) => void>
  state: SubjectState | null
  busy: boolean
  loading: boolean
  /** The use of the host at which it was put at the end of the order of last use. */
  movedAt: number
}

export const newActor = (subject: SubjectKey): Actor => ({
  subject,
  queue: [],
  readers: [],
  state: null,
  busy: false,
  loading: false,
  movedAt: 0
})

/** The messages between the service and the thread that builds models. */
import type { ModelHead } from "../../../../machines/statement/StatementModel.ts"
import type { SealingKeys } from "../../../engine/sealing/Sealing.ts"
import type { NewModel } from "../../../ports/StatementModels.ts"
import type { Building } from "../model/Building.ts"
import type { Built } from "../model/buildStatement.ts"
import type { PlanTerms } from "../model/planStatement.ts"

/** The start data of the thread. */
export interface ModelThreadData {
  /** Includes the password, because the thread is part of the process. */
  readonly databaseUrl: string
  /** The keys that seal pieces at the start. */
  readonly keyring: SealingKeys
}

/** A model to build, with all inputs except the thread's own reads. */
export interface ModelRequest {
  readonly modelId: number
  /** False: a dry run, whose pieces are discarded. */
  readonly isStored: boolean
  readonly building: Omit<Building, "sql">
  readonly head: Omit<ModelHead, "notes">
  readonly terms: PlanTerms
}

export type ToModelThread =
  | { readonly type: "build"; readonly job: number; readonly model: ModelRequest }
  /** Replaces the keys that seal pieces. */
  | { readonly type: "keys"; readonly keyring: SealingKeys }
  /** Acknowledges a stored piece, so that the thread may send the next one. */
  | { readonly type: "stored"; readonly job: number }
  /** Cancels a build. */
  | { readonly type: "stop"; readonly job: number }

export type FromModelThread =
  /** A piece is stored. */
  | { readonly type: "written"; readonly job: number }
  /** Sent after all pieces. `whole` is null if the statement is refused. */
  | { readonly type: "built"; readonly job: number; readonly built: Built; readonly whole: NewModel | null }
  /** The database is unavailable. */
  | { readonly type: "away"; readonly job: number }
  /** A defect. Its description contains no values. */
  | { readonly type: "failed"; readonly job: number; readonly reason: string }
  /** Heartbeat of the thread, for all jobs. */
  | { readonly type: "alive" }

/** Interval of the heartbeat, milliseconds. */
export const aliveMillis = 1_000

/** What the service and the thread that builds models say to one another. */
import type { ModelHead } from "../../../../machines/statement/StatementModel.ts"
import type { SealingKeys } from "../../../engine/sealing/Sealing.ts"
import type { NewModel } from "../../../ports/StatementModels.ts"
import type { Building } from "../model/Building.ts"
import type { Built } from "../model/buildStatement.ts"
import type { PlanTerms } from "../model/planStatement.ts"

/** What the thread begins with. */
export interface ModelThreadData {
  /** With its password: the thread is a part of the process. */
  readonly databaseUrl: string
  /** What pieces are sealed with at first. */
  readonly keyring: SealingKeys
}

/** A model to build: all that the thread has to know besides what it reads. */
export interface AskedModel {
  readonly modelId: number
  /** Else its pieces go nowhere: a dry run. */
  readonly isStored: boolean
  readonly building: Omit<Building, "sql">
  readonly head: Omit<ModelHead, "notes">
  readonly terms: PlanTerms
}

export type ToModelThread =
  | { readonly type: "build"; readonly job: number; readonly asked: AskedModel }
  /** Pieces are sealed with these from now on. */
  | { readonly type: "keys"; readonly keyring: SealingKeys }
  /** That a piece is stored: the next one may be. */
  | { readonly type: "heard"; readonly job: number }
  /** Nobody wants it any more. */
  | { readonly type: "stop"; readonly job: number }

export type FromModelThread =
  /** A piece is stored. */
  | { readonly type: "written"; readonly job: number }
  /** Behind all pieces; `whole` is null where the statement is refused. */
  | { readonly type: "built"; readonly job: number; readonly built: Built; readonly whole: NewModel | null }
  /** The database is away. */
  | { readonly type: "away"; readonly job: number }
  /** A defect, in words that hold no values. */
  | { readonly type: "failed"; readonly job: number; readonly reason: string }
  /** Of all jobs: the thread is well. */
  | { readonly type: "alive" }

/** How often a thread says that it is well, milliseconds. */
export const aliveMillis = 1_000

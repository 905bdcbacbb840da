/** What the service and the thread that builds models say to one another. Pieces wait for one another, so nothing piles up. */
import type { ModelHead } from "../../../machines/statement/StatementModel.ts"
import type { NewModel } from "../../ports/StatementModels.ts"
import type { Building } from "./Building.ts"
import type { Built } from "./buildStatement.ts"
import type { PlanTerms } from "./planStatement.ts"

/** What the thread begins with. */
export interface ModelThreadData {
  /** With its password: the thread is a part of the process. */
  readonly databaseUrl: string
}

/** A model to build: all that the thread has to know besides what it reads. */
export interface AskedModel {
  readonly modelId: number
  readonly building: Omit<Building, "sql">
  readonly head: Omit<ModelHead, "notes">
  readonly terms: PlanTerms
}

export type ToModelThread =
  | { readonly type: "build"; readonly job: number; readonly asked: AskedModel }
  /** A piece is stored. */
  | { readonly type: "taken"; readonly job: number }
  /** Nobody wants it any more. */
  | { readonly type: "stop"; readonly job: number }

export type FromModelThread =
  /** A piece of canonical text; `section`: -1 where it holds no rows. */
  | {
      readonly type: "piece"
      readonly job: number
      readonly number: number
      readonly section: number
      readonly bytes: Uint8Array
    }
  /** Behind all pieces; `whole` is null where the statement is refused. */
  | { readonly type: "built"; readonly job: number; readonly built: Built; readonly whole: NewModel | null }
  /** The database is away. */
  | { readonly type: "away"; readonly job: number }
  /** A defect, in words that hold no values. */
  | { readonly type: "failed"; readonly job: number; readonly reason: string }
  /** Of all jobs: the thread is well. */
  | { readonly type: "alive" }

/** Pieces of a job that may be on their way to the database. */
export const piecesOnTheWay = 2
/** How often a thread says that it is well, milliseconds. */
export const aliveMillis = 1_000

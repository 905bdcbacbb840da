/**
 * The route of each operator command, for a client that does not load the contract. `operatorRoutes.json` is generated from the
 * contract by scripts/generateCommands.ts.
 */
import { readFileSync } from "node:fs"

export interface OperatorRoute {
  readonly method: string
  /** The path, with `:name` for each parameter. */
  readonly path: string
  /** The names of the query, in the contract's order. */
  readonly query: ReadonlyArray<string>
  /** The members of the body, in the contract's order; null without a body. */
  readonly payload: ReadonlyArray<string> | null
  /** The shape of the answer's data; `text` and `bytes` are no envelope. */
  readonly answer: AnswerShape | "text" | "bytes"
}

/** The required members of an object, the shape of an array's items, or 0 for any other value. */
export type AnswerShape = 0 | readonly [AnswerShape] | { readonly [name: string]: AnswerShape }

/** The routes by command, such as `order show`. */
export const operatorRoutes = JSON.parse(
  readFileSync(new URL("operatorRoutes.json", import.meta.url), "utf8")
) as Readonly<Record<string, OperatorRoute>>

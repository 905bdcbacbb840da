/** The rows of a piece of a model's canonical text. A piece that follows another begins with a comma. */
import type { ModelRow } from "../../../machines/statement/StatementModel.ts"

export const rowsOfPiece = (text: string): ReadonlyArray<ModelRow> =>
  JSON.parse(`[${text.startsWith(",") ? text.slice(1) : text}]`) as ReadonlyArray<ModelRow>

/** The service's own watch list (operator surface, screening; F26). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { country, date, text, token } from "../../../machines/shared/Fields.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"
import { watchLists } from "./operatorTokens.ts"

export const WatchEntryView = Schema.Struct({
  entryId: Schema.Int,
  list: Schema.Literals(watchLists),
  name: Schema.String,
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  source: Schema.String,
  addedAt: Millis,
  removedAt: Schema.NullOr(Millis)
})

export class ScreeningGroup extends HttpApiGroup.make("screening").add(
  HttpApiEndpoint.post("add", "/screening", {
    payload: Schema.Struct({
      name: text("The name", 200),
      dob: Schema.optionalKey(date("The date of birth")),
      country: Schema.optionalKey(country("The country")),
      list: token("The list", watchLists)
    }),
    success: Answer(WatchEntryView)
  }),
  HttpApiEndpoint.get("list", "/screening", {
    query: { limit: Limit(5_000), before: Cursor("The cursor") },
    success: Answer(
      Schema.Struct({
        entries: Schema.Array(WatchEntryView),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }),
  HttpApiEndpoint.post("remove", "/screening/:entryId/remove", {
    params: { entryId: Reference },
    success: Answer(WatchEntryView)
  })
) {}

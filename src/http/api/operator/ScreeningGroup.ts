/** The service's own watch list and the published lists imported into it (operator surface, screening; F26). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { passScopes, passTriggers, screeningPassStates } from "../../../machines/screening/ScreeningPass.ts"
import { maxPlaces, watchImportStates } from "../../../machines/screening/WatchImport.ts"
import { boundedList, country, date, shaped, text, token } from "../../../machines/shared/Fields.ts"
import { bodyCaps } from "../../../machines/shared/Limits.ts"
import { compliance, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, OptionalBody, rangeOf, Reference } from "./OperatorFieldSchemas.ts"
import { watchLists } from "./operatorTokens.ts"

export const WatchEntryView = Schema.Struct({
  entryId: Schema.Int,
  list: Schema.Literals(watchLists),
  name: Schema.String,
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  source: Schema.String,
  version: Schema.NullOr(Schema.String),
  addedAt: Millis,
  removedAt: Schema.NullOr(Millis)
})

/** Limit on the entries of one imported list. */
export const maxEntries = 5_000_000

const place = shaped(
  "The place",
  /^(line|entries\.)[ ]?[0-9]{1,10}(, (name|dob|country|remarks))?$/,
  "A place must be written as line 7 or entries.7, with the field where only that can't be read."
)
const places = boundedList(place, "The places", 0, maxPlaces)

/** Differences between a file and the stored list. They consist of numbers and places, never of persons. */
const FileReport = Schema.Struct({
  notPersons: rangeOf("The number of entries that are no persons", 0, maxEntries),
  badLines: places,
  unread: rangeOf("The number of unreadable fields", 0, maxEntries),
  unreadAt: places
})

export const ImportView = Schema.Struct({
  importId: Schema.Int,
  source: Schema.String,
  version: Schema.String,
  status: Schema.Literals(watchImportStates),
  count: Schema.Int,
  received: Schema.Int,
  added: Schema.Int,
  kept: Schema.Int,
  removed: Schema.Int,
  report: FileReport,
  startedAt: Millis,
  endedAt: Schema.NullOr(Millis)
})
export type ImportView = typeof ImportView.Type

/** Most lines of one request. `runtime/services/screening/ScreeningImports.ts` limits a commit to the same number. */
export const maxImportPiece = 1_000

/** A line of a list; the service checks its fields with the rules of the command line. */
const Person = Schema.Struct({
  name: Schema.String,
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  list: Schema.String
})

export class ScreeningGroup extends HttpApiGroup.make("screening").add(
  HttpApiEndpoint.post("add", "/screening", {
    payload: Schema.Struct({
      // The spelling of the published list, direction marks included; matching normalises it.
      name: text("The name", 200),
      dob: Schema.optionalKey(date("The date of birth")),
      country: Schema.optionalKey(country("The country")),
      list: token("The list", watchLists)
    }),
    success: Answer(WatchEntryView)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.get("list", "/screening", {
    query: { limit: Limit(5_000), before: Cursor("The cursor") },
    success: Answer(
      Schema.Struct({
        entries: Schema.Array(WatchEntryView),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("remove", "/screening/:entryId/remove", {
    params: { entryId: Reference },
    success: Answer(WatchEntryView)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.get("sources", "/screening/sources", {
    success: Answer(
      Schema.Struct({
        sources: Schema.Array(
          Schema.Struct({
            source: Schema.String,
            version: Schema.NullOr(Schema.String),
            entries: Schema.Int,
            importedAt: Schema.NullOr(Millis),
            report: Schema.NullOr(FileReport),
            importing: Schema.NullOr(ImportView)
          })
        )
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("passes", "/screening/passes", {
    query: { limit: Limit(1_000), before: Cursor("The cursor") },
    success: Answer(
      Schema.Struct({
        passes: Schema.Array(
          Schema.Struct({
            passId: Schema.Int,
            trigger: Schema.Literals(passTriggers),
            scope: Schema.Literals(passScopes),
            status: Schema.Literals(screeningPassStates),
            rules: Schema.Int,
            screened: Schema.Int,
            hits: Schema.Int,
            possible: Schema.Int,
            startedAt: Millis,
            endedAt: Schema.NullOr(Millis)
          })
        ),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.post("import", "/screening/imports", {
    payload: Schema.Struct({
      source: shaped(
        "The source",
        /^(?!(?:OPERATOR|SANDBOX)$)[A-Z][A-Z0-9_-]{0,19}$/,
        "The source must be a name such as EU or OFAC: up to 20 capital letters, digits, - and _, but not OPERATOR or SANDBOX."
      ),
      version: shaped(
        "The version",
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,29}$/,
        "The version must be a text such as 2026-11-20: up to 30 letters, digits, dots, - and _."
      ),
      count: rangeOf("The count", 1, maxEntries),
      hash: shaped("The hash", /^[0-9a-f]{64}$/, "The hash must be a SHA-256 in hexadecimal."),
      report: Schema.optionalKey(FileReport)
    }),
    success: Answer(ImportView)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("entries", "/screening/imports/:importId/entries", {
    params: { importId: Reference },
    payload: Schema.Struct({
      offset: rangeOf("The offset", 0, maxEntries),
      entries: boundedList(Person, "The entries", 1, maxImportPiece)
    }),
    success: Answer(ImportView)
  }).pipe(openTo(compliance, { partOf: "screening import", bodyCap: bodyCaps.watchListPiece })),
  HttpApiEndpoint.post("finish", "/screening/imports/:importId/finish", {
    params: { importId: Reference },
    payload: OptionalBody({ allowShrink: Schema.optionalKey(Schema.Boolean) }),
    success: Answer(ImportView)
  }).pipe(openTo(compliance, { partOf: "screening import" }))
) {}

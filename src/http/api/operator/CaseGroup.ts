/** Compliance cases: decisions that a held client waits for (operator surface, case; A1-28, A1-29). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { caseReasons, caseStatuses } from "../../../machines/compliance/Case.ts"
import { token } from "../../../machines/shared/Fields.ts"
import { everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { Cursor, Limit, Millis, Reference } from "./OperatorFieldSchemas.ts"
import { watchLists } from "./operatorTokens.ts"
import { indexed } from "../Parameters.ts"

export const CaseView = Schema.Struct({
  caseId: Schema.Int,
  partnerId: Schema.Int,
  clientId: Schema.Int,
  clientUid: Schema.String,
  status: Schema.Literals(caseStatuses),
  reason: Schema.Literals(caseReasons),
  details: Schema.Json,
  openedAt: Millis,
  closedAt: Schema.NullOr(Millis),
  decidedBy: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})

/** The watch-list entry that a screening candidate matched; `dob` and `country` are null where the list has none. */
export const CandidateEntry = Schema.Struct({
  entryId: Schema.Int,
  list: Schema.Literals(watchLists),
  name: Schema.String,
  dob: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  source: Schema.String,
  removedAt: Schema.NullOr(Millis)
})
export type CandidateEntry = typeof CandidateEntry.Type

/** A case with the screening revision that a clearance must name, and the entries of its candidates. */
export const CaseFile = Schema.Struct({
  ...CaseView.fields,
  revision: Schema.NullOr(Schema.Int),
  entries: Schema.Array(CandidateEntry)
})

export class CaseGroup extends HttpApiGroup.make("case").add(
  HttpApiEndpoint.get("list", "/cases", {
    query: {
      open: Schema.optionalKey(token("The open mark", ["true", "false"])),
      client: indexed(Schema.optionalKey(Reference)),
      limit: Limit(500),
      before: Cursor("The cursor")
    },
    success: Answer(
      Schema.Struct({
        cases: Schema.Array(CaseView),
        hasMore: Schema.Boolean,
        nextBefore: Schema.NullOr(Schema.Int)
      })
    )
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/cases/:caseId", { params: { caseId: Reference }, success: Answer(CaseFile) }).pipe(
    openTo(everyone)
  )
) {}

/** Partner firms: creation, status, reliance, limits, address ranges (operator surface, Back office; D15, D16; A1-08). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { partnerStatuses } from "../../../machines/partner/Partner.ts"
import { relianceStatuses } from "../../../machines/partner/Reliance.ts"
import { boundedList, country, flag, nameText, optionalText, shaped, token } from "../../../machines/shared/Fields.ts"
import { admin, compliance, everyone, openTo } from "./CommandRules.ts"
import { Answer } from "./OperatorErrors.ts"
import { ApprovalPending, Millis, OptionalBody, PerMinute, Reason, Reference } from "./OperatorFieldSchemas.ts"
import { codeShape, custodyModels, licenceTypes } from "./operatorTokens.ts"

/** The profile that the partner reads (doc 1, Partner profile), with the fields that only operators see. */
export const PartnerProfile = Schema.Struct({
  partnerId: Schema.Int,
  code: Schema.String,
  name: Schema.String,
  legalName: Schema.String,
  country: Schema.String,
  licenceType: Schema.String,
  relianceStatus: Schema.Literals(relianceStatuses),
  status: Schema.Literals(partnerStatuses),
  sandbox: Schema.Boolean,
  custodyModel: Schema.Literals(custodyModels),
  collateralAsset: Schema.String,
  limits: Schema.Struct({ readPerMinute: Schema.Int, tradePerMinute: Schema.Int }),
  allowedCidrs: Schema.Array(Schema.String),
  uidPrefix: Schema.String,
  createdAt: Millis
})

/** The profile with past changes of the custody model, oldest first (doc 3, Changing the custody model). */
const ShownPartner = Schema.Struct({
  ...PartnerProfile.fields,
  custodyChanges: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        before: Schema.Literals(custodyModels),
        after: Schema.Literals(custodyModels),
        collateralAsset: Schema.String,
        reason: Schema.String,
        changedBy: Schema.String,
        changedAt: Millis
      })
    )
  )
})

/** The obstacles to closing a partner, each with its remedy; an empty list when there are none. The call changes nothing. */
const Blockers = Schema.Struct({
  dryRun: Schema.Literal(true),
  partnerId: Schema.Int,
  blockers: Schema.Array(Schema.String)
})

export const uidPrefixShape = /^[A-Z][A-Z0-9]{0,7}$/

export const PartnerBody = Schema.Struct({
  code: shaped(
    "The code",
    codeShape,
    "The code must have 1 to 32 letters, digits, hyphens or underscores, at least one of them a letter."
  ),
  name: nameText("The name", 200),
  legalName: nameText("The legal name", 200),
  country: country("The country"),
  licence: token("The licence", licenceTypes),
  custody: Schema.optionalKey(token("The custody model", custodyModels)),
  collateralAsset: optionalText("The collateral asset", 32),
  uidPrefix: Schema.optionalKey(
    shaped(
      "The uid prefix",
      uidPrefixShape,
      "The uid prefix must have 1 to 8 upper-case letters or digits and start with a letter."
    )
  ),
  sandbox: Schema.optionalKey(flag("The sandbox mark"))
})

/** The same limit as in `runtime/services/partners/addressRanges.ts`. */
const maxCidrs = 256

/** The service checks each range; an empty list admits every address. */
const Cidrs = boundedList(
  Schema.String.annotate({ message: "Each entry must be text." }),
  "The address ranges",
  0,
  maxCidrs
).annotateKey({ messageMissingKey: "The address ranges are required." })

const partner = { partner: Reference }

export class PartnerGroup extends HttpApiGroup.make("partner").add(
  HttpApiEndpoint.post("create", "/partners", {
    payload: PartnerBody,
    success: Answer(Schema.Struct({ ...PartnerProfile.fields, notes: Schema.Array(Schema.String) }))
  }).pipe(openTo(admin)),
  HttpApiEndpoint.get("list", "/partners", {
    success: Answer(Schema.Struct({ partners: Schema.Array(PartnerProfile) }))
  }).pipe(openTo(everyone)),
  HttpApiEndpoint.get("show", "/partners/:partner", { params: partner, success: Answer(ShownPartner) }).pipe(
    openTo(everyone)
  ),
  HttpApiEndpoint.post("status", "/partners/:partner/status", {
    params: partner,
    // Only a dry run of a closing answers with blockers; other status changes have none.
    payload: Schema.Struct({ status: token("The status", partnerStatuses), reason: Reason }),
    success: Answer(Schema.Union([Blockers, PartnerProfile]))
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("custody", "/partners/:partner/custody", {
    params: partner,
    payload: Schema.Struct({
      custody: token("The custody model", custodyModels),
      collateralAsset: optionalText("The collateral asset", 32),
      reason: Reason
    }),
    success: Answer(Schema.Union([ApprovalPending, Blockers, PartnerProfile]))
  }).pipe(openTo(admin, { fourEyes: "usual" })),
  HttpApiEndpoint.post("reliance", "/partners/:partner/reliance", {
    params: partner,
    payload: Schema.Struct({ status: token("The reliance status", relianceStatuses), reason: Reason }),
    success: Answer(PartnerProfile)
  }).pipe(openTo(compliance)),
  HttpApiEndpoint.post("limits", "/partners/:partner/limits", {
    params: partner,
    payload: OptionalBody({ read: PerMinute("The read limit"), trade: PerMinute("The trade limit") }),
    success: Answer(PartnerProfile)
  }).pipe(openTo(admin)),
  HttpApiEndpoint.post("cidrs", "/partners/:partner/cidrs", {
    params: partner,
    payload: Schema.Struct({ cidrs: Cidrs }),
    success: Answer(PartnerProfile)
  }).pipe(openTo(admin))
) {}

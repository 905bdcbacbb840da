/**
 * The body of PUT .../kyc: some of the six sections with an attestation, or all of them with an identity check when the client
 * is onboarded again after a rejection. Sections follow the rules of POST /clients; this file adds the required members and the
 * document references (doc 1, Rules of POST /clients and PUT .../kyc 2, 7 and 8; A1-27, A1-32, A1-01).
 */
import { Schema } from "effect"
import type { Json } from "../shared/Json.ts"
import { utcDateAt } from "../shared/CalendarDate.ts"
import * as Fields from "../shared/Fields.ts"
import { Attestation } from "./Attestation.ts"
import { DeclarationsMica } from "./DeclarationsMica.ts"
import { Fatca } from "./Fatca.ts"
import { Identification } from "./Identification.ts"
import { checkIdentityCheck, IdentityCheck } from "./IdentityCheck.ts"
import {
  bodyDepth,
  checkKycSections,
  KycSections,
  type KycSectionName,
  kycSectionNames,
  type OnboardingFacts
} from "./OnboardingBody.ts"
import { Pep } from "./Pep.ts"
import { PersonalInfo } from "./PersonalInfo.ts"
import { TaxResidency } from "./TaxResidency.ts"

/** The `kyc` object of an ordinary revision: at least one of the six sections. */
const RevisedSections = Fields.objectOf(
  {
    personalInfo: Schema.optionalKey(PersonalInfo),
    identification: Schema.optionalKey(Identification),
    taxResidency: Schema.optionalKey(TaxResidency),
    fatca: Schema.optionalKey(Fatca),
    pep: Schema.optionalKey(Pep),
    declarationsMica: Schema.optionalKey(DeclarationsMica)
  },
  "The kyc object"
)

/** The body of PUT .../kyc as sent; carries the OpenAPI description. */
export const KycUpdateBody = Fields.objectOf(
  { kyc: RevisedSections, identityCheck: Schema.optionalKey(IdentityCheck), attestation: Attestation },
  "The request body"
)

/** The schema of a re-onboarding: all six sections, the identity check and the attestation. */
const ReonboardingBody = Fields.objectOf(
  { kyc: KycSections, identityCheck: IdentityCheck, attestation: Attestation },
  "The request body"
)

/** The sections that a revision carries, exactly as received. */
export type ReceivedSections = Readonly<Partial<Record<KycSectionName, Json>>>

/** A valid update. Members stay as received, because the package and the blocks store them so. */
export interface KycUpdateBody {
  readonly kyc: ReceivedSections
  /** The identity check as received; null when the body has none. */
  readonly identityCheck: Json
  readonly attestation: Json
}

export interface KycUpdateFacts extends OnboardingFacts {
  /** Ids of the client's documents that are not deleted. */
  readonly documents: ReadonlySet<number>
  /** True for a client at level NONE whose latest package is REJECTED: the update onboards it again. */
  readonly reonboarding: boolean
}

export type DecodedKycUpdate =
  | { readonly ok: true; readonly body: KycUpdateBody }
  | { readonly ok: false; readonly errors: Fields.FieldErrors }

const decodeRevision = Fields.decoderOf(KycUpdateBody)
const decodeReonboarding = Fields.decoderOf(ReonboardingBody)

/** Checks a body of PUT .../kyc; a body that is no object gives an empty map. Never throws on a JSON value. */
export const decodeKycUpdate = (body: unknown, facts: KycUpdateFacts): DecodedKycUpdate => {
  const errors: Fields.FieldErrors = {}
  if (!Fields.isRecord(body)) return { ok: false, errors }
  const add: Fields.AddError = (path, sentence) => {
    errors[path] ??= sentence
  }
  const raw = Fields.withoutNulls(body, bodyDepth) as Fields.JsonRecord
  Fields.dropBlanks(facts.reonboarding ? ReonboardingBody : KycUpdateBody, raw)
  checkPresence(raw, facts, add)
  checkAcrossFields(raw, facts, add)
  if (facts.reonboarding) decodeReonboarding(raw, add)
  else decodeRevision(raw, add)
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, body: receivedOf(body) }
}

/** Rules that the schema can't express: one section is enough, and a re-onboarding needs the identity check again. */
const checkPresence = (raw: Fields.JsonRecord, { reonboarding }: KycUpdateFacts, add: Fields.AddError): void => {
  const kyc = raw["kyc"]
  if (reonboarding) {
    if (raw["identityCheck"] !== undefined) return
    return add(
      "identityCheck",
      "A new record of the identity check is required to onboard the client again after a rejection."
    )
  }
  if (Fields.isRecord(kyc) && kycSectionNames.every((name) => kyc[name] === undefined)) {
    add("kyc", `At least one section is required: ${kycSectionNames.join(", ")}.`)
  }
}

const checkAcrossFields = (raw: Fields.JsonRecord, facts: KycUpdateFacts, add: Fields.AddError): void => {
  const sectionFacts: Fields.SectionFacts = {
    now: facts.today,
    today: utcDateAt(facts.today),
    blockedJurisdictions: facts.blockedJurisdictions,
    identityProviders: facts.identityProviders,
    documents: facts.documents
  }
  if (Fields.isRecord(raw["kyc"])) checkKycSections(raw["kyc"], sectionFacts, add)
  if (Fields.isRecord(raw["identityCheck"])) {
    checkIdentityCheck(raw["identityCheck"], sectionFacts, Fields.under("identityCheck", add))
  }
}

/** Copies the members as received. A null section counts as not sent. */
const receivedOf = (body: Fields.JsonRecord): KycUpdateBody => {
  const sections = body["kyc"] as Fields.JsonRecord
  return {
    kyc: Object.fromEntries(
      kycSectionNames.flatMap((name) => {
        const section = sections[name]
        return section === undefined || section === null ? [] : [[name, section as Json]]
      })
    ),
    identityCheck: (body["identityCheck"] ?? null) as Json,
    attestation: body["attestation"] as Json
  }
}

/** Ids of every document that the sections refer to. */
export const referredDocuments = ({ personalInfo, identification, fatca }: ReceivedSections): ReadonlyArray<number> => {
  const at = (section: Json | undefined, key: string): unknown =>
    Fields.isRecord(section) ? (section as Fields.JsonRecord)[key] : undefined
  return [at(personalInfo, "utility_bill_document_id"), at(fatca, "w9_document_id"), at(identification, "document_ids")]
    .flat()
    .filter((id) => typeof id === "number")
}

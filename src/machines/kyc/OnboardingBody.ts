/**
 * The body of POST /clients: one declaration for decoding and for the OpenAPI document. One function answers either the
 * normalised request or every failing field at once. A null field counts as not sent; unknown fields are ignored (doc 1,
 * Onboarding request and Rules of POST /clients; A1-14..A1-27, A1-01, A1-32).
 */
import { Schema, Struct } from "effect"
import { utcDateAt } from "../shared/CalendarDate.ts"
import * as Fields from "../shared/Fields.ts"
import { kycLengths } from "../shared/Limits.ts"
import { cleanText, isEmail, maxEmailLength, normaliseEmail, trimText } from "../shared/Text.ts"
import { Attestation } from "./Attestation.ts"
import { DeclarationsMica } from "./DeclarationsMica.ts"
import { checkFatca, Fatca, normaliseFatca } from "./Fatca.ts"
import { checkIdentification, Identification } from "./Identification.ts"
import { checkIdentityCheck, IdentityCheck } from "./IdentityCheck.ts"
import { checkPep, Pep } from "./Pep.ts"
import { checkPersonalInfo, PersonalInfo } from "./PersonalInfo.ts"
import { checkTaxResidency, normaliseTaxResidency, TaxResidency } from "./TaxResidency.ts"

/** The six MiCA sections by their body key, with the rules that a schema cannot express. */
export const kycSections = {
  personalInfo: checkPersonalInfo,
  identification: checkIdentification,
  taxResidency: checkTaxResidency,
  fatca: checkFatca,
  pep: checkPep,
  declarationsMica: () => {}
} as const satisfies Record<string, (raw: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError) => void>
export type KycSectionName = keyof typeof kycSections
export const kycSectionNames = Object.keys(kycSections) as readonly KycSectionName[]

/** The `kyc` object of POST /clients: all six sections. */
export const KycSections = Fields.objectOf(
  {
    personalInfo: PersonalInfo,
    identification: Identification,
    taxResidency: TaxResidency,
    fatca: Fatca,
    pep: Pep,
    declarationsMica: DeclarationsMica
  },
  "The kyc object"
)
export type KycSections = typeof KycSections.Type

const clientTypeSentence = "Only natural persons can be onboarded: the client type must be NATURAL."

export const OnboardingBody = Fields.objectOf(
  {
    partnerClientRef: Fields.text("The partner client reference", kycLengths.partnerClientRef),
    email: Schema.String.annotate({
      message: "The e-mail address must be text.",
      description: "E-mail address, stored in lower case"
    })
      .check(
        Schema.makeFilter((email: string) => {
          if (cleanText(email) === "") return "The e-mail address is required."
          if (trimText(email).length > maxEmailLength) {
            return `The e-mail address must be at most ${maxEmailLength} characters.`
          }
          return isEmail(email) ? undefined : "The e-mail address must be a valid address with a full domain."
        })
      )
      .annotateKey(Fields.missing("The e-mail address")),
    clientType: Schema.optionalKey(
      Schema.Literal("NATURAL").annotate({ message: clientTypeSentence, description: "NATURAL, the default" })
    ),
    categorization: Schema.optionalKey(
      Schema.Literal("RETAIL").annotate({
        message: "The categorization must be RETAIL.",
        description: "RETAIL, the default"
      })
    ),
    residencyCountry: Schema.optionalKey(Fields.country("The residency country")),
    kyc: KycSections,
    identityCheck: IdentityCheck,
    attestation: Attestation
  },
  "The request body"
)

/**
 * The documented body of POST /clients, without the document references, which must be omitted there. The decoder still knows
 * them, so that each reference sent is refused by its own sentence.
 */
export const DescribedOnboardingBody = Fields.objectOf(
  {
    ...OnboardingBody.fields,
    kyc: Fields.objectOf(
      {
        ...KycSections.fields,
        personalInfo: Fields.objectOf(
          Struct.omit(PersonalInfo.fields, ["utility_bill_document_id"]),
          "The personal information section"
        ),
        identification: Fields.objectOf(
          Struct.omit(Identification.fields, ["document_ids"]),
          "The identification section"
        ),
        fatca: Fields.objectOf(Struct.omit(Fatca.fields, ["w9_document_id"]), "The FATCA section")
      },
      "The kyc object"
    )
  },
  "The request body"
)

/** A valid onboarding request: texts trimmed and NFC, defaults filled, tax numbers stripped, ignored fields gone. */
export interface OnboardingBody {
  readonly partnerClientRef: string
  /** The e-mail address in lower case. */
  readonly email: string
  readonly clientType: "NATURAL"
  readonly categorization: "RETAIL"
  /** The country as sent, or that of the residential address. */
  readonly residencyCountry: string
  readonly kyc: KycSections
  readonly identityCheck: IdentityCheck
  readonly attestation: Attestation
  /** The sections exactly as received: the KYC package stores them. */
  readonly received: {
    readonly kyc: Readonly<Record<string, unknown>>
    readonly identityCheck: unknown
    readonly attestation: unknown
  }
}

/** Facts outside the body that decide an onboarding request. */
export interface OnboardingFacts {
  /** Moment of receipt, Unix ms; "today" is its UTC date. */
  readonly today: number
  /** ISO alpha-2 codes of the countries whose residents are refused. */
  readonly blockedJurisdictions: ReadonlySet<string>
  /** The two identity-provider tokens that are configured, besides manual and other. */
  readonly identityProviders: readonly string[]
}

export type DecodedOnboarding =
  | { readonly ok: true; readonly body: OnboardingBody }
  | { readonly ok: false; readonly errors: Fields.FieldErrors }

/** Nesting from the body down to a field of an association or tax residency. */
export const bodyDepth = 5

/**
 * Checks a body of POST /clients. Every failing field is named, one sentence per dotted path; a body that is no object gives an
 * empty map (400 without data.errors). Never throws on a JSON value.
 */
export const decodeOnboarding = (body: unknown, facts: OnboardingFacts): DecodedOnboarding => {
  const errors: Fields.FieldErrors = {}
  if (!Fields.isRecord(body)) return { ok: false, errors }
  const add: Fields.AddError = (path, sentence) => {
    errors[path] ??= sentence
  }
  const raw = Fields.withoutNulls(body, bodyDepth) as Fields.JsonRecord
  Fields.dropBlanks(OnboardingBody, raw)
  checkAcrossFields(raw, facts, add)
  const decoded = decodeBody(raw, add)
  if (decoded === undefined || Object.keys(errors).length > 0) return { ok: false, errors }
  return { ok: true, body: normalise(Fields.cleanTexts(decoded), body) }
}

/**
 * Checks the raw body against the rules that join fields or need a fact. Removes from `raw` the members that other members
 * make irrelevant, so that the schema does not check them. The caller passes a copy.
 */
const checkAcrossFields = (raw: Fields.JsonRecord, facts: OnboardingFacts, add: Fields.AddError): void => {
  const sectionFacts: Fields.SectionFacts = {
    now: facts.today,
    today: utcDateAt(facts.today),
    blockedJurisdictions: facts.blockedJurisdictions,
    identityProviders: facts.identityProviders,
    documents: "refused"
  }
  if (facts.blockedJurisdictions.has(Fields.textAt(raw, "residencyCountry") ?? "")) {
    add("residencyCountry", "Clients resident in this country cannot be onboarded.")
  }
  if (Fields.isRecord(raw["kyc"])) checkKycSections(raw["kyc"], sectionFacts, add)
  if (Fields.isRecord(raw["identityCheck"])) {
    checkIdentityCheck(raw["identityCheck"], sectionFacts, Fields.under("identityCheck", add))
  }
}

/** Checks the rules across fields of those sections that a raw `kyc` object has; paths start with "kyc.". */
export const checkKycSections = (kyc: Fields.JsonRecord, facts: Fields.SectionFacts, add: Fields.AddError): void => {
  for (const name of kycSectionNames) {
    const section = kyc[name]
    if (Fields.isRecord(section)) kycSections[name](section, facts, Fields.under(`kyc.${name}`, add))
  }
}

const decodeBody = Fields.decoderOf(OnboardingBody)

const normalise = (clean: typeof OnboardingBody.Type, body: Fields.JsonRecord): OnboardingBody => ({
  partnerClientRef: clean.partnerClientRef,
  email: normaliseEmail(clean.email),
  clientType: "NATURAL",
  categorization: "RETAIL",
  residencyCountry: clean.residencyCountry ?? clean.kyc.personalInfo.address.country,
  kyc: {
    ...clean.kyc,
    taxResidency: normaliseTaxResidency(clean.kyc.taxResidency),
    fatca: normaliseFatca(clean.kyc.fatca)
  },
  identityCheck: clean.identityCheck,
  attestation: clean.attestation,
  received: {
    kyc: receivedSections(body["kyc"]),
    identityCheck: body["identityCheck"],
    attestation: body["attestation"]
  }
})

/** The KYC sections that are in the body, exactly as received. */
export const receivedSections = (kyc: unknown): Fields.JsonRecord => {
  const record = Fields.isRecord(kyc) ? kyc : {}
  return Object.fromEntries(kycSectionNames.filter((name) => name in record).map((name) => [name, record[name]]))
}

/**
 * Every field rule of doc 1 as a table row: the accepted values with the stored form, the refused values with the
 * sentence, and no other field in the errors. A field without rows fails (doc 1, Resources and their fields;
 * A1-14..A1-27, A1-37, A1-41..A1-44).
 */
import { assert, describe, it } from "@effect/vitest"
import type { Schema, SchemaAST } from "effect"
import * as fc from "fast-check"
import {
  AcknowledgementBody,
  decodeAcknowledgement,
  decodeSubmission,
  SubmissionBody
} from "../../src/machines/appropriateness/AppropriatenessBody.ts"
import { questionnaire1 } from "../../src/machines/appropriateness/questionnaire1.ts"
import { scoreAnswers } from "../../src/machines/appropriateness/scoring.ts"
import { decodeDocumentUpload, DocumentUploadBody } from "../../src/machines/document/DocumentUploadBody.ts"
import { decodeKycUpdate, KycUpdateBody } from "../../src/machines/kyc/KycUpdateBody.ts"
import { decodeOnboarding, OnboardingBody } from "../../src/machines/kyc/OnboardingBody.ts"
import { decodeMifid, MifidBody } from "../../src/machines/mifid/MifidBody.ts"
import {
  attestationRows,
  declarationsMicaRows,
  envelopeRows,
  oneSectionRows,
  sectionRows
} from "../fixtures/fieldRows/envelope.ts"
import { identificationRows, identityCheckRows } from "../fixtures/fieldRows/identification.ts"
import { mifidBase, mifidRows } from "../fixtures/fieldRows/mifid.ts"
import { acknowledgeRows, documentRows, someAnswers, submitRows } from "../fixtures/fieldRows/otherBodies.ts"
import { pepRows } from "../fixtures/fieldRows/pep.ts"
import { personalInfoRows } from "../fixtures/fieldRows/personalInfo.ts"
import { liveDocuments, refusedReferences, takenReferences } from "../fixtures/fieldRows/references.ts"
import type { FieldRules, Refused } from "../fixtures/fieldRows/rows.ts"
import { fatcaRows, taxResidencyRows } from "../fixtures/fieldRows/taxResidency.ts"
import { fullOnboarding, onboardingFacts, onboardingNow, setAt, validOnboarding } from "../fixtures/onboarding.ts"

/** The stored form of a body, or the sentences by path. */
type Judged = { readonly stored: unknown } | { readonly errors: Readonly<Record<string, string>> }

interface Body {
  readonly name: string
  readonly schema: Schema.Top
  readonly base: (now: number) => object
  readonly judge: (body: unknown, now: number) => Judged
  /** The prefix of every error path. */
  readonly prefix?: string
  /** Values are stored as sent, not as cleaned. */
  readonly asReceived?: true
  readonly sections: Readonly<Record<string, ReadonlyArray<FieldRules>>>
}

/** A body in which every conditional field applies, verified a moment before it is received. */
const onboardingAt = (now: number) => validOnboarding({ ...fullOnboarding(), "identityCheck.verifiedAt": now - 1 })

const kycRows = {
  personalInfo: personalInfoRows,
  identification: identificationRows,
  taxResidency: taxResidencyRows,
  fatca: fatcaRows,
  pep: pepRows,
  declarationsMica: declarationsMicaRows,
  identityCheck: identityCheckRows,
  attestation: attestationRows
}

/** The same sections under PUT .../kyc, which stores them as received and accepts references. */
const kycUpdate = (name: string, reonboarding: boolean, containers: ReadonlyArray<FieldRules>): Body => ({
  name,
  schema: KycUpdateBody,
  base: (now) => {
    const { kyc, identityCheck, attestation } = onboardingAt(now)
    return { kyc, identityCheck, attestation }
  },
  asReceived: true,
  judge: (body, now) => {
    const decided = decodeKycUpdate(body, { ...onboardingFacts, today: now, documents: liveDocuments, reonboarding })
    return decided.ok ? { stored: decided.body } : decided
  },
  sections: { containers, ...kycRows, references: takenReferences }
})

const bodies: ReadonlyArray<Body> = [
  {
    name: "POST /clients",
    schema: OnboardingBody,
    base: onboardingAt,
    judge: (body, now) => {
      const decided = decodeOnboarding(body, { ...onboardingFacts, today: now })
      return decided.ok ? { stored: decided.body } : decided
    },
    sections: {
      envelope: envelopeRows,
      containers: sectionRows("required", "required"),
      ...kycRows,
      references: refusedReferences
    }
  },
  kycUpdate("PUT .../kyc", false, [...sectionRows("optional", "optional"), ...oneSectionRows]),
  kycUpdate(
    "PUT .../kyc after a rejection",
    true,
    sectionRows("required", {
      missing: "A new record of the identity check is required to onboard the client again after a rejection."
    })
  ),
  {
    name: "PUT .../mifid",
    schema: MifidBody,
    base: mifidBase,
    prefix: "mifid.",
    judge: (body) => {
      const decided = decodeMifid(body)
      return decided.ok ? { stored: decided.body } : decided
    },
    sections: { mifid: mifidRows }
  },
  {
    name: "POST .../documents",
    schema: DocumentUploadBody,
    base: () => ({ name: "passport.png", contentType: "image/png", dataBase64: "AAAA", purpose: "identity" }),
    judge: (body) => {
      const decided = decodeDocumentUpload(body)
      if (decided.ok) return { stored: { ...decided.body, name: decided.body.filename } }
      return { errors: decided.refusal._tag === "Invalid" ? { ...decided.refusal.errors } : {} }
    },
    sections: { document: documentRows }
  },
  {
    name: "POST .../appropriateness",
    schema: SubmissionBody,
    base: () => ({ version: 1, answers: { ...someAnswers } }),
    judge: (body) => {
      const decided = decodeSubmission(body)
      if (!decided.ok) return decided
      const { version, answers } = decided.body
      const scored = scoreAnswers(questionnaire1, answers)
      return scored.ok
        ? { stored: { version, answers: scored.answers } }
        : { errors: { [scored.path]: scored.sentence } }
    },
    sections: { submission: submitRows }
  },
  {
    name: "POST .../appropriateness/acknowledge",
    schema: AcknowledgementBody,
    base: () => ({ acknowledgedAt: onboardingNow }),
    judge: (body, now) => {
      const decided = decodeAcknowledgement(body, { now })
      return decided.ok ? { stored: { acknowledgedAt: decided.attestedAt } } : decided
    },
    sections: { acknowledgement: acknowledgeRows }
  }
]

const changed = (base: object, paths: Readonly<Record<string, unknown>>): object => {
  const body = structuredClone(base)
  for (const [path, value] of Object.entries(paths)) setAt(body, path, structuredClone(value))
  return body
}
const at = (root: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], root)
const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 120)

/** Every path of a schema, list items as `*`: objects, lists and fields alike. */
const pathsOf = (ast: SchemaAST.AST, path = ""): ReadonlyArray<string> => {
  const below = (name: PropertyKey, member: SchemaAST.AST) =>
    pathsOf(member, path === "" ? String(name) : `${path}.${String(name)}`)
  const own = path === "" ? [] : [path]
  if (ast._tag === "Objects") return own.concat(ast.propertySignatures.flatMap(({ name, type }) => below(name, type)))
  if (ast._tag === "Arrays") return own.concat([...ast.elements, ...ast.rest].flatMap((item) => below("*", item)))
  return own
}

const anyIndex = (path: string): string => path.replaceAll(/\.\d+(?=\.|$)/g, ".*")
const unique = (paths: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(paths.map(anyIndex))].sort()
/** Paths that the values of a field reach: itself, and its entries when it is a list. */
const reached = (path: string, value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) && value.length > 0 ? [path, `${path}.*`] : [path]

/** POST /clients refuses a list of references as a whole; PUT .../kyc checks its items. */
const refusedWhole: Readonly<Record<string, ReadonlyArray<string>>> = {
  "POST /clients": ["kyc.identification.document_ids.*"]
}

/** The appropriateness test reports only its first fault (A1-41). */
const together = new Set(["POST /clients", "PUT .../kyc", "PUT .../kyc after a rejection", "PUT .../mifid"])
/** Fields that decide whether others are required, ignored or compared. */
const deciding =
  /\.(is_pep|has_associations|has_tin|us_person_status|no_tin_reasons|start_date|primary_purpose|employment_status|employment_status_other|industry|position|(income|funds|wealth)_sources)$/

describe.each(bodies)(
  "doc 1, field rules of $name",
  ({ name, schema, base, judge, prefix = "", asReceived, sections }) => {
    const fields = Object.entries(sections).flatMap(([section, rows]) => rows.map((rules) => ({ section, ...rules })))

    it("doc 1: the base body is accepted", () => {
      assert.property(judge(base(onboardingNow), onboardingNow), "stored")
    })

    it("doc 1: every field of the schema has a row that is accepted and a row that is refused", () => {
      const known = pathsOf(schema.ast).filter((path) => !refusedWhole[name]?.includes(path))
      const missing = (covered: ReadonlyArray<string>) => known.filter((path) => !covered.includes(path))
      const taken = fields.flatMap(({ path, takes }) => takes.flatMap(({ value }) => reached(path, value)))
      const refused = fields.flatMap(({ path, refuses }) => refuses.map(({ at = path }) => at))
      assert.deepStrictEqual(missing(unique(taken)), [], "no row that is taken")
      assert.deepStrictEqual(missing(unique(refused)), [], "no row that is refused")
    })

    it.each(fields)("doc 1, $section: $path accepts its values and nothing else", ({ path, takes, refuses }) => {
      for (const { value, stored, also, now = onboardingNow } of takes) {
        const judged = judge(changed(base(now), { ...also, [path]: value }), now)
        if ("errors" in judged) assert.fail(`${shown(value)} is refused: ${shown(judged.errors)}`)
        // A null that is stored as received still counts as not sent.
        assert.deepStrictEqual(
          at(judged.stored, path) ?? undefined,
          (asReceived ? value : stored) ?? undefined,
          shown(value)
        )
      }
      for (const { value, sentence, at = path, also, now = onboardingNow } of refuses) {
        const judged = judge(changed(base(now), { ...also, [path]: value }), now)
        if ("stored" in judged) assert.fail(`${shown(value)} is taken`)
        assert.deepStrictEqual(judged.errors, { [`${prefix}${at}`]: sentence }, shown(value))
      }
    })
  }
)

describe.each(bodies.filter(({ name }) => together.has(name)))(
  "A1-27: $name",
  ({ base, judge, prefix = "", sections }) => {
    it("A1-27: all faults are reported together: one answer has every sentence", () => {
      // Fields that do not affect others, and rows that need no other change to the body.
      const fields = Object.values(sections).flat()
      const lone = fields
        .filter(({ path }) => !deciding.test(path) && !fields.some((other) => other.path.startsWith(`${path}.`)))
        .flatMap(({ path, refuses }) => {
          const rows = refuses.filter(({ also, now }) => also === undefined && now === undefined)
          return rows.length === 0 ? [] : [{ path, rows }]
        })
      const drawn = fc
        .subarray(lone, { minLength: 2 })
        .chain((some) =>
          fc.tuple(...some.map(({ path, rows }) => fc.tuple(fc.constant(path), fc.constantFrom(...rows))))
        )
      fc.assert(
        fc.property(drawn, (failing: ReadonlyArray<readonly [string, Refused]>) => {
          const paths = Object.fromEntries(failing.map(([path, { value }]) => [path, value]))
          const judged = judge(changed(base(onboardingNow), paths), onboardingNow)
          if ("stored" in judged) assert.fail("taken")
          const expected = failing.map(([path, { at = path, sentence }]) => [`${prefix}${at}`, sentence])
          assert.deepStrictEqual({ ...judged.errors }, Object.fromEntries(expected))
        })
      )
    })
  }
)

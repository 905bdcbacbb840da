/** JSON schemas of the reference: the form of the bodies as most teams would declare it, compiled by Fastify. */

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength }) as const
const country = { type: "string", pattern: "^[A-Z]{2}$" } as const
const date = { type: "string", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" } as const
const moment = { type: "integer", minimum: 1 } as const
const flag = { type: "boolean" } as const

const objectOf = (properties: Readonly<Record<string, object>>, optional: ReadonlyArray<string> = []) => ({
  type: "object",
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties
})

const personalInfo = objectOf(
  {
    first_name: text(100),
    middle_name: text(100),
    last_name: text(100),
    date_of_birth: date,
    country_of_birth: country,
    citizenships: { type: "array", minItems: 1, items: country },
    phone_country_code: { type: "string", pattern: "^\\+[0-9]{1,4}$" },
    phone_number: { type: "string", pattern: "^[0-9]{4,15}$" },
    address: objectOf({
      country,
      street_name: text(200),
      number: text(20),
      city: text(100),
      postal_code: text(20)
    })
  },
  ["middle_name"]
)

const attestation = objectOf({
  cddPerformedAt: moment,
  cddStandard: text(64),
  screening: objectOf({
    sanctionsClear: { const: true },
    pepChecked: flag,
    adverseMediaChecked: flag,
    screenedAt: moment
  }),
  riskRating: { type: "string", enum: ["LOW", "MEDIUM", "HIGH"] },
  attestedBy: text(200),
  documentsAvailableOnRequest: { const: true }
})

export const onboardingSchema = objectOf({
  partnerClientRef: text(64),
  email: { type: "string", pattern: "^[^@ ]+@[^@ ]+\\.[^@ ]+$", maxLength: 254 },
  kyc: objectOf({
    personalInfo,
    identification: objectOf({
      type: { type: "string", enum: ["passport", "national_id", "drivers_license", "residence_permit"] },
      country_of_issuance: country,
      number: text(50),
      expiration_date: date
    }),
    taxResidency: objectOf({
      tax_residencies: {
        type: "array",
        minItems: 1,
        items: objectOf({ country, has_tin: flag, tin: { type: "string", pattern: "^[A-Za-z0-9]{5,20}$" } })
      }
    }),
    fatca: objectOf({ us_person_status: flag }),
    pep: objectOf({ is_pep: flag, has_associations: flag }),
    declarationsMica: { type: "object", required: ["acceptedAt"], additionalProperties: true }
  }),
  identityCheck: objectOf({
    provider: text(40),
    reference: text(200),
    method: { type: "string", enum: ["video", "nfc", "document", "in_person"] },
    verifiedAt: moment
  }),
  attestation
})

export const revisionSchema = objectOf({ kyc: objectOf({ personalInfo }), attestation })

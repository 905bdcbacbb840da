/**
 * A complete, valid body of POST /clients for invented person number `n`: the demo, the partner simulator and the benchmark
 * onboard with it. The same (n, tag) gives the same person; different ones differ in reference, e-mail and document number.
 */
import { DeclarationsMica } from "./DeclarationsMica.ts"

const firstNames = [
  "Anna",
  "Ben",
  "Clara",
  "David",
  "Elena",
  "Felix",
  "Greta",
  "Hugo",
  "Ines",
  "Jonas",
  "Klara",
  "Luca"
]
const lastNames = [
  "Albrecht",
  "Bergmann",
  "Castell",
  "Dorn",
  "Ebner",
  "Falk",
  "Gruber",
  "Heller",
  "Imhof",
  "Jansen",
  "Keller"
]

const declarations = Object.keys(DeclarationsMica.fields).filter((name) => name !== "acceptedAt")

const dayMillis = 86_400_000
const pick = (values: ReadonlyArray<string>, n: number): string => values[n % values.length] as string

/** `tag`: letters and digits that keep runs apart, at most 20; `now`: time of sending, Unix ms. */
export const sampleOnboarding = (n: number, tag: string, now: number) => {
  const first = pick(firstNames, n)
  const last = pick(lastNames, Math.floor(n / firstNames.length))
  const year = 1950 + (n % 50)
  const month = String((n % 12) + 1).padStart(2, "0")
  const day = String((n % 28) + 1).padStart(2, "0")
  return {
    partnerClientRef: `${tag}-${n}`,
    email: `${first}.${last}.${tag}.${n}@mail.example`.toLowerCase(),
    kyc: {
      personalInfo: {
        first_name: first,
        last_name: last,
        date_of_birth: `${year}-${month}-${day}`,
        country_of_birth: "DE",
        citizenships: ["DE"],
        phone_country_code: "+49",
        phone_number: `151${String(n).padStart(8, "0")}`,
        address: {
          country: "DE",
          street_name: "Lindenallee",
          number: String((n % 200) + 1),
          city: "Berlin",
          postal_code: "10115"
        }
      },
      identification: {
        type: "passport",
        country_of_issuance: "DE",
        number: `P${tag.toUpperCase()}${n}`,
        expiration_date: new Date(now + 5 * 365 * dayMillis).toISOString().slice(0, 10)
      },
      taxResidency: { tax_residencies: [{ country: "DE", has_tin: true, tin: String(10_000_000_000 + n) }] },
      fatca: { us_person_status: false },
      pep: { is_pep: false, has_associations: false },
      declarationsMica: { ...Object.fromEntries(declarations.map((name) => [name, true])), acceptedAt: now - 60_000 }
    },
    identityCheck: {
      provider: "identity_provider_1",
      reference: `idv-${tag}-${n}`,
      method: "video",
      verifiedAt: now - dayMillis
    },
    attestation: {
      cddPerformedAt: now - dayMillis,
      cddStandard: "MICA_CASP_CDD",
      screening: { sanctionsClear: true, pepChecked: true, adverseMediaChecked: true, screenedAt: now - dayMillis },
      riskRating: "LOW",
      attestedBy: "Compliance desk",
      documentsAvailableOnRequest: true
    }
  }
}
export type SampleOnboarding = ReturnType<typeof sampleOnboarding>

/** Onboards a client, reports its collateral, hears that it was booked, buys for it, and reads what it has then. */
import { randomUUID } from "node:crypto"
import { startReceiver } from "./receiver.mjs"

const { API, KEY } = process.env

/** A request; each write has a key of its own, so that it can be sent again until it is answered. */
const call = async (method, path, body) => {
  const key = randomUUID()
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(`${API}${path}`, {
      method,
      headers: { Authorization: `Bearer ${KEY}`, ...(method === "GET" ? {} : { "Idempotency-Key": key }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const wait = Number(answer.headers.get("Retry-After") ?? 0)
    if ((answer.status === 429 || answer.status === 503) && attempt < 5) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1000))
      continue
    }
    const json = await answer.json()
    if (!answer.ok) throw new Error(`${method} ${path}: ${json.code} ${json.msg} ${JSON.stringify(json.data ?? {})}`)
    return json.data ?? json
  }
}

const now = Date.now()
const yesterday = now - 86_400_000
const reference = `hour-${now}`
const promises =
  "fatca_crs_accurate fatca_crs_responsible fatca_crs_notify_changes fatca_crs_disclosure fatca_crs_consequences accept_legal_docs accuracy_of_info market_conduct aml_compliance recording_consent data_protection notify_changes cooperate_authorities authorised_client"

const person = {
  partnerClientRef: reference,
  email: `${reference}@mail.example`,
  kyc: {
    personalInfo: {
      first_name: "Ben",
      last_name: "Albrecht",
      date_of_birth: "1951-02-02",
      country_of_birth: "DE",
      citizenships: ["DE"],
      phone_country_code: "+49",
      phone_number: "15100000001",
      address: { country: "DE", street_name: "Lindenallee", number: "2", city: "Berlin", postal_code: "10115" }
    },
    identification: {
      type: "passport",
      country_of_issuance: "DE",
      number: `P${now}`,
      expiration_date: `${new Date().getUTCFullYear() + 5}-01-31`
    },
    taxResidency: { tax_residencies: [{ country: "DE", has_tin: true, tin: "10000000001" }] },
    fatca: { us_person_status: false },
    pep: { is_pep: false, has_associations: false },
    declarationsMica: {
      ...Object.fromEntries(promises.split(" ").map((name) => [name, true])),
      acceptedAt: yesterday
    }
  },
  identityCheck: { provider: "identity_provider_1", reference, method: "video", verifiedAt: yesterday },
  attestation: {
    cddPerformedAt: yesterday,
    cddStandard: "MICA_CASP_CDD",
    screening: { sanctionsClear: true, pepChecked: true, adverseMediaChecked: true, screenedAt: yesterday },
    riskRating: "LOW",
    attestedBy: "Compliance desk",
    documentsAvailableOnRequest: true
  }
}

const { partner } = await call("GET", "/me")
console.log(`I am ${partner.code}, under ${partner.custodyModel} custody.`)

const receiver = await startReceiver()
receiver.secret = (await call("PUT", "/webhook", { url: receiver.url })).secret

const { clientId, lifecycleState } = await call("POST", "/clients", person)
await receiver.heard("client.onboarded", clientId)
console.log(`The client is ${lifecycleState}.`)

await call("POST", `/clients/${clientId}/collateral`, { partnerRef: reference, direction: "DEPOSIT", amount: "1000" })
const booked = await receiver.heard("collateral.booked", clientId)
console.log(`Booked: ${booked.data.amount} ${booked.data.currency}.`)

const order = await call("POST", `/clients/${clientId}/orders`, {
  symbol: "BTC-USDC",
  side: "BUY",
  type: "MARKET",
  qty: "0.001"
})
console.log(`The order ${order.clOrdId} is ${order.state}.`)

const { balances } = await call("GET", `/clients/${clientId}/balances`)
for (const { currency, cash } of balances) console.log(`${currency}: ${cash}`)

await call("DELETE", "/webhook")
receiver.close()

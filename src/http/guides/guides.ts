/**
 * The guides of the reference: Markdown files beside this one. Their placeholders are filled from the source of each fact
 * (the table of errors, a complete onboarding, runnable receivers, the signature of the test vector), so a guide can't
 * contradict the source.
 */
import { readFileSync } from "node:fs"
import { sampleOnboarding } from "../../machines/kyc/sampleOnboarding.ts"
import { signatureOf } from "../../runtime/services/webhooks/signature.ts"
import { errorSections } from "./errorTable.ts"

/** The guides by file name, in their order on the page. */
export const guideNames = [
  "firstHour",
  "authentication",
  "idempotency",
  "paging",
  "errors",
  "limits",
  "clientLife",
  "custody",
  "webhooks",
  "trading",
  "goingLive"
] as const

/** The test vector of the guide on webhooks. */
export const testVector = {
  secret: "whs_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
  timestamp: 1_795_000_000,
  body: '{"id":1,"event":"webhook.test"}'
} as const

export const receivers = ["receiver.mjs", "receiver.py", "receiver.go", "Receiver.java"] as const

const fileAt = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8").trimEnd()

const sampleTag = "guide"
const sampleTime = Date.UTC(2026, 10, 20)

const { secret, timestamp, body } = testVector

const known: Readonly<Record<string, () => string>> = {
  errors: () => errorSections().join("\n").trimEnd(),
  onboarding: () => JSON.stringify(sampleOnboarding(1, sampleTag, sampleTime), null, 2),
  signature: () => signatureOf(secret, timestamp, body).slice("v1=".length),
  ...Object.fromEntries(receivers.map((name) => [name, () => fileAt(`receivers/${name}`)])),
  "hour.receiver.mjs": () => fileAt("../../../docs/first-hour/receiver.mjs"),
  "hour.onboard.mjs": () => fileAt("../../../docs/first-hour/onboard.mjs")
}

/**
 * Replaces the names in double angle brackets; each line of the text gets the placeholder's indentation. Braces would not do,
 * because formatters treat them as code.
 */
const filled = (text: string): string =>
  text.replaceAll(/^( *)(.*?)<<([\w.]+)>>/gm, (_, indent: string, before: string, name: string) => {
    const found = known[name]
    if (found === undefined) throw new Error(`a guide wants ${name}`)
    return `${indent}${before}${found().replaceAll("\n", `\n${indent}`)}`
  })

/** All guides in one Markdown text, with their placeholders filled. */
export const guides = (): string => guideNames.map((name) => filled(fileAt(`${name}.md`))).join("\n\n")

/**
 * Python's urllib writes a whole request before it reads. These tests check the answers it receives when a refusal precedes the
 * read of the body.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { hasTool, skipNote } from "../support/tools.ts"
import { type Refused, refusals, startRefusing, ways } from "./uploadRefusals.ts"

/** Posts one body after the other and prints the status and the body of each answer as JSON. A failed write ends the script. */
const program = `
import json, ssl, sys, urllib.error, urllib.request
authority, requests = sys.argv[1], json.loads(sys.argv[2])
context = ssl.create_default_context(cafile=authority)
answers = []
for each in requests:
    headers = {"Authorization": "Bearer " + each["key"], "Content-Type": "application/json"}
    request = urllib.request.Request(each["url"], data=b"x" * each["bytes"], headers=headers)
    try:
        answers.append([200, urllib.request.urlopen(request, context=context).read().decode()])
    except urllib.error.HTTPError as refusal:
        answers.append([refusal.code, refusal.read().decode()])
print(json.dumps(answers))
`

const folder = mkdtempSync(join(tmpdir(), "python-uploads-"))
let refusing: Awaited<ReturnType<typeof startRefusing>>
beforeAll(async () => {
  refusing = await startRefusing()
})
afterAll(async () => {
  await refusing.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = async (sent: ReadonlyArray<Refused>, way: (typeof ways)[number]) => {
  const authorities = join(folder, "authorities.pem")
  const targets = sent.map((refused) => refusing.targetOf(refused, way))
  writeFileSync(authorities, [...new Set(targets.map(({ ca }) => ca))].join("\n"))
  const requests = sent.map(({ path, key, bytes }, index) => ({
    url: `https://127.0.0.1:${targets[index]?.port}${path}`,
    key,
    bytes
  }))
  const { stdout } = await promisify(execFile)("python3", ["-c", program, authorities, JSON.stringify(requests)])
  return JSON.parse(stdout) as ReadonlyArray<readonly [status: number, text: string]>
}

describe.each(ways)("A1-02: a refusal reaches Python before the body is read: %s", (way) => {
  it.skipIf(!hasTool("python3"))(`each refusal${skipNote("python3")}`, async () => {
    const answers = await run(refusals, way)
    assert.deepStrictEqual(
      answers.map(([status, text]) => [status, (JSON.parse(text) as { readonly code: number }).code]),
      refusals.map(({ status, code }) => [status, code])
    )
  })
})

/**
 * The pages of the atlas: everything inline, so that nothing is loaded from anywhere, under a policy that allows exactly this
 * script and this style. The pictures are drawn from the stored layouts; live figures come from the service, as data.
 */
import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { kinds, machines } from "../../../machines/registry.ts"
import { rowName, statesOf } from "../../../machines/describe.ts"
import { drawMachine, escaped, lookOf } from "../../../machines/picture/drawMachine.ts"
import { trialsOf } from "../../../machines/picture/MachineCoverage.ts"
import { coverageOf, layouts, transitions } from "./machineTables.ts"

/** A page of HTML, and its content policy. */
export interface AtlasPage {
  readonly html: string
  readonly policy: string
}

const file = (name: string): string => readFileSync(new URL(`page/${name}`, import.meta.url), "utf8")

const hashed = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

const pageOf = (body: string, { style = "", script = "", head = "" }): AtlasPage => ({
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Atlas</title>${head}
<style>${style}</style>
</head>
<body>
${body}
${script === "" ? "" : `<script>${script}</script>`}
</body>
</html>
`,
  policy: [
    "default-src 'none'",
    `script-src ${script === "" ? "'none'" : hashed(script)}`,
    `style-src ${hashed(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
})

/** What the script knows of each machine without asking. */
const known = () =>
  Object.fromEntries(
    kinds.map((kind) => {
      const entry = machines[kind]
      const states = statesOf(entry.machine).map(({ name, description }) => [
        name,
        { look: lookOf(entry, name), description }
      ])
      return [
        kind,
        {
          title: entry.title,
          meaning: entry.meaning,
          clause: entry.clause,
          states: Object.fromEntries(states),
          // How many of its transitions scenarios go through, simulation or tests alone, and neither.
          trials: Object.values(trialsOf(coverageOf(kind), transitions()[kind].map(rowName)))
        }
      ]
    })
  )

const makeAtlas = (): AtlasPage => {
  const pictures = kinds.map(
    (kind) =>
      `<figure data-kind="${kind}"><a class="open" href="#/${kind}"><b>${escaped(machines[kind].title)}</b> <span class="total"></span></a><div class="picture">${drawMachine(machines[kind], layouts()[kind], coverageOf(kind))}</div></figure>`
  )
  const data = `<div hidden id="known">${escaped(JSON.stringify(known()))}</div>`
  return pageOf([file("body.html").replace("<!-- pictures -->", () => pictures.join("\n")), data].join("\n"), {
    style: file("atlas.css"),
    script: file("atlas.js")
  })
}

let made: AtlasPage | undefined

/** The atlas itself; made once. */
export const atlasPage = (): AtlasPage => (made ??= makeAtlas())

const plain = file("plain.css")

/** Where no ticket is, or one that is over. */
export const closedPage = pageOf(
  `<main><h1>Atlas</h1><p>This link has run out, or it never was one; or the session that it began is over. Run <code>brokerage atlas</code> again: it prints a new link.</p></main>`,
  { style: plain }
)

/**
 * What a link answers: a page of our own that goes on. A redirect would not carry the new cookie where the link was clicked on
 * another site's page.
 */
export const entrancePage = pageOf(`<main><h1>Atlas</h1><p><a href="/atlas">Go on</a></p></main>`, {
  style: plain,
  head: `\n<meta http-equiv="refresh" content="0; url=/atlas">`
})

/** The page as an answer that nobody keeps. */
export const sent = (status: number, { html, policy }: AtlasPage): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(html, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff"
    }
  })

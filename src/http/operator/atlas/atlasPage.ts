/**
 * The HTML of the atlas. All scripts and styles are inline, and the content policy allows exactly those. Pictures are drawn
 * from the stored layouts; live figures are loaded as data.
 */
import { HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { kinds, machines } from "../../../machines/registry.ts"
import { rowName, statesOf } from "../../../machines/describe.ts"
import { drawMachine, escaped, lookOf } from "../../../machines/picture/drawMachine.ts"
import { trialsOf } from "../../../machines/picture/MachineCoverage.ts"
import { coverageOf, layouts, transitions } from "./machineTables.ts"

/** `policy`: the Content-Security-Policy header, which allows only the page's own script and style. */
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

/** The data of all machines. The page embeds it, and the page's script reads it. */
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
          // Numbers of transitions: covered by scenarios, only by simulation or tests, and not covered.
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

/** The atlas page. The first call builds it, and later calls return the same page, because the machines do not change. */
export const atlasPage = (): AtlasPage => (made ??= makeAtlas())

const plain = file("plain.css")

/** The page for a browser without a ticket, or with an expired one. */
export const closedPage = pageOf(
  `<main><h1>Atlas</h1><p>This link has run out, or it never was one; or the session that it began is over. Run <code>brokerage atlas</code> again: it prints a new link.</p></main>`,
  { style: plain }
)

/**
 * The page behind a link. It forwards to the atlas by itself: an HTTP redirect would not carry the new cookie when the link was
 * clicked on a page of another site.
 */
export const entrancePage = pageOf(`<main><h1>Atlas</h1><p><a href="/atlas">Go on</a></p></main>`, {
  style: plain,
  head: `\n<meta http-equiv="refresh" content="0; url=/atlas">`
})

/** A page as a response that is not cached. */
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

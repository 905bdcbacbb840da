/** The page at `/`: where somebody who has nothing but the address finds the rest. */

const links = [
  ["/docs", "Reference", "guides, every route and webhook, and a console that sends requests"],
  ["/openapi.json", "Description", "the same as OpenAPI 3.1, for tools"],
  ["/healthz", "Health", "whether the service answers"]
] as const

export const welcomePage = (title: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="data:,">
    <title>${title}</title>
    <style>
      body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; color-scheme: light dark; }
    </style>
  </head>
  <body>
    <h1>${title}</h1>
    <ul>
${links.map(([href, name, says]) => `      <li><a href="${href}">${name}</a>: ${says}</li>`).join("\n")}
    </ul>
  </body>
</html>
`

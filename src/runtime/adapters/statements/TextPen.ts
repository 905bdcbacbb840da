/**
 * Writes texts of one line into a page, character by character: pdfkit's own way lays out every word anew, which takes a
 * statement of 100,000 rows ten times as long and keeps each word for ever. What the font has no sign for, and what would not be
 * seen or would turn the direction of writing, is drawn as U+FFFD (STS-31).
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type PDFDocument from "pdfkit"

type Document = InstanceType<typeof PDFDocument>

export type Face = "body" | "bold"

const require = createRequire(import.meta.url)
const file = (name: string): Buffer => readFileSync(require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))
const files: { readonly [F in Face]: Buffer } = {
  body: file("DejaVuSansCondensed"),
  bold: file("DejaVuSansCondensed-Bold")
}

/** What of pdfkit's font is needed beyond its types. */
interface EmbeddedFont {
  readonly id: string
  readonly ascender: number
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean }
  ref(): unknown
  encode(text: string): readonly [ReadonlyArray<string>, ReadonlyArray<{ readonly advanceWidth: number }>]
}

/** A character as it is written: its code in the font's subset, and its width in thousandths of the size. */
interface Sign {
  readonly code: string
  readonly width: number
}

const undrawable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u
const replacement = "\uFFFD"
const ellipsis = "…"

/** A coordinate as it is written: hundredths of a point. */
const place = (figure: number): string => String(Math.round(figure * 100) / 100)

export class TextPen {
  private readonly document: Document
  private readonly height: number
  private readonly fonts: { readonly [F in Face]: EmbeddedFont }
  private readonly signs: { readonly [F in Face]: Map<string, Sign> } = { body: new Map(), bold: new Map() }

  constructor(document: Document, height: number) {
    this.document = document
    this.height = height
    const font = (face: Face): EmbeddedFont => {
      document.registerFont(face, files[face]).font(face)
      // pdfkit keeps the font in use to itself, and this is the only way to its codes.
      const { _font: own }: { readonly _font: EmbeddedFont } = document as never
      return own
    }
    this.fonts = { bold: font("bold"), body: font("body") }
  }

  /** Width of a text, points. */
  widthOf(text: string, face: Face, size: number): number {
    let width = 0
    for (const character of text) width += this.signOf(character, face).width
    return (width * size) / 1000
  }

  /** Writes a text whose first line begins at `y` from the top. */
  write(text: string, face: Face, size: number, x: number, y: number): void {
    if (text === "") return
    const font = this.fonts[face]
    const page: { readonly fonts: Record<string, unknown> } = this.document.page as never
    page.fonts[font.id] ??= font.ref()
    let codes = ""
    for (const character of text) codes += this.signOf(character, face).code
    const base = this.height - y - (font.ascender * size) / 1000
    // The page counts from its top; texts stand upright from its bottom.
    this.document.addContent(
      `q 1 0 0 -1 0 ${place(this.height)} cm BT 1 0 0 1 ${place(x)} ${place(base)} Tm /${font.id} ${size} Tf <${codes}> Tj ET Q`
    )
  }

  /** The text, or as much of it as fits with an ellipsis behind it. */
  fitted(text: string, face: Face, size: number, room: number): { readonly text: string; readonly width: number } {
    const width = this.widthOf(text, face, size)
    if (width <= room) return { text, width }
    let cut = this.widthOf(ellipsis, face, size)
    let kept = ""
    for (const character of text) {
      const next = cut + (this.signOf(character, face).width * size) / 1000
      if (next > room) break
      kept += character
      cut = next
    }
    return { text: `${kept}${ellipsis}`, width: cut }
  }

  private signOf(character: string, face: Face): Sign {
    const known = this.signs[face].get(character)
    if (known !== undefined) return known
    const font = this.fonts[face]
    const drawable = !undrawable.test(character) && font.font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
    const [codes, positions] = font.encode(drawable ? character : replacement)
    const sign = { code: codes.join(""), width: positions.reduce((sum, { advanceWidth }) => sum + advanceWidth, 0) }
    this.signs[face].set(character, sign)
    return sign
  }
}

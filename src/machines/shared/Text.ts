/**
 * Normalises text from partners: trimmed of Unicode white space, NFC, counted in code points, without control characters,
 * line breaks or lone surrogates. A text without a visible character counts as empty. E-mail follows the WHATWG pattern.
 * Short ASCII text, the usual case, allocates no memory, because collateral reports use these functions thousands of times a
 * second (A1-14, A1-15).
 */

/**
 * White space: Unicode White_Space and the byte order mark. Written by hand, because a regular expression for trailing space
 * takes quadratic time.
 */
const isWhiteSpace = (unit: number): boolean =>
  unit === 0x20 ||
  (unit >= 0x09 && unit <= 0x0d) ||
  (unit > 0x7f &&
    (unit === 0x85 ||
      unit === 0xa0 ||
      unit === 0x1680 ||
      (unit >= 0x2000 && unit <= 0x200a) ||
      unit === 0x2028 ||
      unit === 0x2029 ||
      unit === 0x202f ||
      unit === 0x205f ||
      unit === 0x3000 ||
      unit === 0xfeff))

/** The text without white space at either end. */
export const trimText = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** The text as stored: trimmed and in Unicode normal form C; empty when no character is visible. */
export const cleanText = (text: string): string => {
  const trimmed = trimText(text)
  if (isPrintableAscii(trimmed)) return trimmed
  return visible.test(trimmed) ? trimmed.normalize("NFC") : ""
}

/**
 * A character that can be seen: no white space, no character that only turns, joins or hides others, and not the blank of
 * Braille.
 */
const visible = /[^\p{Cf}\p{Default_Ignorable_Code_Point}\p{White_Space}\u2800]/u

/** The number of Unicode code points, by which the limits of texts are counted. */
export const codePointLength = (text: string): number => {
  let length = 0
  for (const _ of text) length++
  return length
}

/**
 * The fault of a text of at most `max` code points, as a sentence that starts with `label`; undefined when the text is valid.
 * An empty text is a fault only when required.
 */
export const textSentence = (text: string, label: string, max: number, required: boolean): string | undefined => {
  const clean = cleanText(text)
  if (clean.length === 0) return required ? `${label} is required.` : undefined
  if (clean.length <= max && isPrintableAscii(clean)) return undefined
  if (!clean.isWellFormed()) return `${label} must be valid Unicode text.`
  if (forbidden.test(clean)) return `${label} must not contain control characters or line breaks.`
  return codePointLength(clean) > max ? `${label} must be at most ${max} characters.` : undefined
}

const forbidden = /[\p{Cc}\u2028\u2029]/u

/**
 * Like `textSentence`, for a name: also refuses characters that change the direction of writing, because they could make it
 * read as another name.
 */
export const nameSentence = (text: string, label: string, max: number, required: boolean): string | undefined => {
  const sentence = textSentence(text, label, max, required)
  if (sentence !== undefined || isPrintableAscii(text) || !turning.test(cleanText(text))) return sentence
  return `${label} must not contain characters that change the direction of writing.`
}

const turning = /\p{Bidi_Control}/u

/**
 * Makes the text of another program safe to show: U+FFFD replaces control characters, line breaks, direction characters and lone
 * surrogates.
 */
export const plainText = (text: string): string =>
  isPrintableAscii(text) ? text : text.toWellFormed().replaceAll(unshown, "\ufffd")

const unshown = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const isPrintableAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e) return false
  }
  return true
}

// The pattern of the HTML standard ("valid e-mail address"), with at least one dot in the domain.
const emailPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/

/** Longest e-mail address, in characters. */
export const maxEmailLength = 254

/** True for an e-mail address of at most 254 characters with a dotted domain. */
export const isEmail = (text: string): boolean => {
  const trimmed = trimText(text)
  return trimmed.length <= maxEmailLength && emailPattern.test(trimmed)
}

/** The address as stored and compared: trimmed, in lower case. A valid address is ASCII. */
export const normaliseEmail = (text: string): string => trimText(text).toLowerCase()

/** Form of an id in text: canonical decimal. */
export const idShape = /^[1-9][0-9]{0,18}$/

/**
 * Form of a client's uid, reference or e-mail address in commands; digits alone are always an id. The longest address has 254
 * characters, and the database refuses some texts outright (U+0000).
 */
export const clientNameShape = /^(?![0-9]*$)\P{Cc}{1,254}$/u

/** The text as one argument of a shell line, with quotes where it needs them. */
export const quoted = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The count with its noun: "1 case", "2 cases", "0 deliveries". The noun's last word takes the plural. */
export const plural = (count: number, noun: string): string =>
  `${count} ${
    count === 1
      ? noun
      : noun
          .replace(/([^aeiou])y$/, "$1ie")
          .replace(/(s|x|ch|sh)$/, "$1e")
          .concat("s")
  }`

/** The first `most` names of a list, and the number of the others: "a, b and 3 more". */
export const firstOf = (names: ReadonlyArray<string>, most: number): string => {
  const shown = names.slice(0, most).join(", ")
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}

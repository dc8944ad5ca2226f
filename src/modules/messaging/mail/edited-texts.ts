/** Texts that a shop writes itself: plain text with `{{placeholders}}`. */
import { plainParagraphs } from '../../../lib/plain-text.ts'
import { type MailTemplate, type MailTexts, placeholdersOf } from './domain.ts'

/** The texts of a template that a shop can replace. Null: souk's text. */
export type EditedTexts = Readonly<Pick<MailTexts, 'subject' | 'intro' | 'closing'>>
export const noTexts: EditedTexts = { subject: null, intro: null, closing: null }

const placeholder = /\{\{\s*([A-Za-z]+)\s*\}\}/g

/** Replaces placeholders by their values. Values are not searched for placeholders. */
export const fillPlaceholders = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(placeholder, (found, name: string) => (Object.hasOwn(values, name) ? (values[name] ?? found) : found))

/** Fills a text of several paragraphs. */
export const fillParagraphs = (text: string, values: Readonly<Record<string, string>>): string[] =>
  plainParagraphs(fillPlaceholders(text, values))

/** Returns the name of the first text with an unknown or incomplete placeholder. */
export function findInvalidText(template: MailTemplate, texts: EditedTexts): keyof EditedTexts | undefined {
  const names = placeholdersOf(template)
  const isInvalid = (text: string | null) =>
    /\{\{|\}\}/.test((text ?? '').replace(placeholder, (found, name: string) => (names.includes(name) ? ' ' : found)))
  return (['subject', 'intro', 'closing'] as const).find((name) => isInvalid(texts[name]))
}

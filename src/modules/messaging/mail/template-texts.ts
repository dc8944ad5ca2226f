import type { CommandContext } from '../../../core/command-context.ts'
import { invalidField } from '../../../core/errors.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { pick } from '../../../lib/objects.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { type MailLanguage, type MailTemplate, type MailTexts, placeholdersOf } from './domain.ts'
import { type EditedTexts, findInvalidText, noTexts } from './edited-texts.ts'
import type { MailBaseDeps } from './mail-deps.ts'
import { mailStore as store } from './store.ts'
import { defaultTexts } from './templates.ts'

/** A template in a language. */
type TextsKey = { readonly template: MailTemplate; readonly language: MailLanguage }

const viewOf = ({ template, language }: TextsKey, row: Readonly<Pick<MailTexts, keyof EditedTexts | 'version'>>) => ({
  ...pick(row, 'subject', 'intro', 'closing', 'version'),
  template,
  language,
  defaults: defaultTexts(template, language),
  placeholders: [...placeholdersOf(template)],
})
type MailTextsView = ReturnType<typeof viewOf>

const unchangedTexts = (shopId: string, key: TextsKey): MailTexts => ({ shopId, ...key, ...noTexts, version: 1, updatedAt: 0 })

/** Resets a shop's texts of a template to souk's. @throws AppError PRECONDITION_FAILED */
export const resetMailTexts = (deps: MailBaseDeps, by: CommandContext, key: TextsKey): Promise<MailTextsView> =>
  setMailTexts(deps, by, key, noTexts)

/** Reads the texts of a template that the shop edited, and souk's. */
export async function readMailTexts(deps: MailBaseDeps, shopId: string, key: TextsKey): Promise<MailTextsView> {
  return viewOf(key, (await store.texts(deps.db.read, { shopId, ...key })) ?? unchangedTexts(shopId, key))
}

/**
 * Replaces a shop's texts of a template.
 * @throws AppError INVALID for unknown or incomplete placeholders; PRECONDITION_FAILED
 */
export async function setMailTexts(deps: MailBaseDeps, by: CommandContext, key: TextsKey, texts: EditedTexts): Promise<MailTextsView> {
  const invalid = findInvalidText(key.template, texts)
  if (invalid !== undefined) {
    const names = placeholdersOf(key.template).map((name) => `{{${name}}}`)
    throw invalidField(invalid, `must use only these placeholders: ${names.join(', ')}`)
  }
  const shopId = by.shop.id
  const action = texts === noTexts ? 'shop.mail_texts_reset' : 'shop.mail_texts_set'
  const row = await audited(deps, by, { action, subject: shopId }, async (tx, setDifference) => {
    const found = await store.texts(tx, { shopId, ...key })
    const before = found ?? unchangedTexts(shopId, key)
    assertVersion(by.expected, before.version)
    const after = { ...before, ...texts, version: before.version + 1, updatedAt: deps.clock.now() }
    const stored = assertNotStale(await (found ? store.updateTexts(tx, after, before.version) : store.insertTexts(tx, after)))
    // The redacted field names the template.
    const textsByName = (row: MailTexts): Record<string, unknown> => ({
      [`${key.template}.${key.language}`]: pick(row, 'subject', 'intro', 'closing'),
    })
    setDifference(differenceOf(textsByName(before), textsByName(after), []))
    return stored
  })
  return viewOf(key, row)
}

/** Mails through a real mail server: each arrives whole, and what it is to the queue when one does not. */
import { describe, expect, test } from 'bun:test'
import { mails } from '../../../db/schema/mail.ts'
import type { MailData, MailTemplate } from '../../../src/modules/mail/domain.ts'
import { mailLanguages, pausesMs, templateNames } from '../../../src/modules/mail/domain.ts'
import { queueMail } from '../../../src/modules/mail/index.ts'
import { sampleData } from '../../../src/modules/mail/samples.ts'
import { type TestApp, testApp } from '../../support/app.ts'
import { answering, mailServer, rawMailServer } from '../../support/mail-server.ts'

const minute = 60_000

export const queue = <Template extends MailTemplate>(
  app: TestApp,
  template: Template,
  data: MailData[Template],
  { key = template as string, to = 'ann@example.com', shopId = null }: { key?: string; to?: string; shopId?: string | null } = {},
) => app.deps.db.write((tx) => queueMail(tx, app.deps, { key, shopId, to, template, data }))

/** A round of the job, to the end of what it began. */
async function send(app: TestApp) {
  await app.deps.mails.run()
  await app.deps.mails.idle()
}
const rows = (app: TestApp) => app.deps.db.read.select().from(mails).orderBy(mails.id)

test('every template arrives whole, in every language, with nothing of a person left behind', async () => {
  await using server = await mailServer()
  await using app = await testApp(server.settings)
  // There is no such order.
  app.deps.mailPreparers.clear()
  const { shop } = await app.merchant()
  const sample = sampleData('USD')
  for (const language of mailLanguages)
    for (const template of templateNames)
      await app.deps.db.write((tx) =>
        queueMail(tx, app.deps, { key: `${template}:${language}`, shopId: shop.id, to: 'ann@example.com', template, data: sample[template], language }),
      )
  await send(app)
  expect(server.errors).toEqual([])
  expect(server.received.length).toBe(mailLanguages.length * templateNames.length)
  for (const { headers, text, html, to, from } of server.received) {
    expect(to).toEqual(['ann@example.com'])
    expect(from).toBe('shop@souk.example')
    expect(headers.get('from')).toBe('"shop-1" <shop@souk.example>')
    expect(headers.get('to')).toBe('ann@example.com')
    expect(headers.get('subject')?.length).toBeGreaterThan(5)
    expect(headers.get('message-id')).toMatch(/^<mail_[0-9a-z]{26}@souk\.example>$/)
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(text.length).toBeGreaterThan(40)
    expect(html).toContain(`lang="${headers.get('content-language')}"`)
    expect(`${text}${html}`).not.toMatch(/undefined|\[object|NaN/)
  }
  for (const row of await rows(app)) expect(row).toMatchObject({ status: 'SENT', sealed: null, lastError: null, attempts: 1 })
})

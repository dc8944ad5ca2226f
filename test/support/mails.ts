/** Queues, sends and reads mails of an app. */
import { mails } from '../../db/schema/mail.ts'
import type { MailData, MailTemplate } from '../../src/modules/messaging/mail/domain.ts'
import { queueMail } from '../../src/modules/messaging/mail/index.ts'
import type { TestApp } from './app.ts'

export const queueTestMail = <Template extends MailTemplate>(
  app: TestApp,
  template: Template,
  data: MailData[Template],
  { key = template as string, to = 'ann@example.com', shopId = null }: { key?: string; to?: string; shopId?: string | null } = {},
): Promise<void> => app.deps.db.write((tx) => queueMail(tx, app.deps, { key, shopId, to, template, data }))

/** Runs the mail job and waits until its mails are sent. */
export async function sendMails(app: TestApp): Promise<void> {
  await app.deps.mails.run()
  await app.deps.mails.idle()
}

export const mailRows = (app: TestApp) => app.deps.db.read.select().from(mails).orderBy(mails.id)

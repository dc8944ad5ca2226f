import type { AppDeps } from '../src/providers.ts'

/** Sends queued mails. Does not wait for the mail server: a slow one must not delay the next run. */
export const sendMails = ({ mails }: Pick<AppDeps, 'mails'>): Promise<void> => mails.run()

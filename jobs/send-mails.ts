import type { AppDeps } from '../src/providers.ts'

/** Sends the mails that wait. The mail server is not waited for: one that hangs must not hold up the next round. */
export const sendMails = ({ mails }: Pick<AppDeps, 'mails'>): Promise<void> => mails.run()

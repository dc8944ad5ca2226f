import type { Writer } from '../../../db/engine.ts'
import { insertOf } from '../../../db/prepared.ts'
import { mails } from '../../../db/schema/mail.ts'
import type { Mail } from './domain.ts'

const insert = insertOf(mails, 'leave')

export const mailStore = {
  /** Leaves the one that is there under that key. */
  async insert(tx: Writer, mail: Mail): Promise<void> {
    await insert(tx, mail)
  },
}

/** Writes from many callers at once and names every row on standard output once its write was acknowledged. */
import { writeSync } from 'node:fs'
import { openDatabase } from '../../db/open.ts'
import { attempts } from '../../db/schema/people.ts'

const [url = '', dataDir = '', round = ''] = Bun.argv.slice(2)
const { db } = await openDatabase({ url, dataDir, as: 'server', now: 0, random: Math.random })
const callers = 32

async function keepWriting(caller: number): Promise<never> {
  for (let nth = 0; ; nth++) {
    const id = `${round}-${caller}-${nth}`
    await db.write(async (tx) => {
      await tx.insert(attempts).values({ id, bucket: 'x'.repeat(200), at: nth })
    })
    writeSync(1, `${id}\n`)
  }
}

await Promise.all(Array.from({ length: callers }, (_, caller) => keepWriting(caller)))

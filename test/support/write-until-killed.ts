/** Writes rows from many concurrent callers until it is killed. Prints the id of each acknowledged row. */
import { writeSync } from 'node:fs'
import { engine } from '../../db/columns.ts'
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

/** Runs checkpoints continuously in every other round, so that the kill also interrupts them. */
async function keepMoving(): Promise<void> {
  while (engine === 'sqlite' && Number(round) % 2 === 1) {
    await db.checkpoint()
    await Bun.sleep(1)
  }
}

void keepMoving()
await Promise.all(Array.from({ length: callers }, (_, caller) => keepWriting(caller)))

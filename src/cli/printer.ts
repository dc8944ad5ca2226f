/**
 * Writes on standard output, and waits until the reader has taken it, so that no more than a piece is in memory.
 * @returns false once nobody reads any more
 */
export function createPrinter(stdout: NodeJS.WriteStream): (text: string) => Promise<boolean> {
  let isRead = true
  stdout.on('error', () => {
    isRead = false
  })
  return async (text) => {
    if (isRead && text !== '' && !stdout.write(text)) await nextOf(stdout, ['drain', 'close', 'error'])
    return isRead
  }
}

const nextOf = (stream: NodeJS.WriteStream, events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const goOn = () => {
      for (const event of events) stream.off(event, goOn)
      resolve()
    }
    for (const event of events) stream.on(event, goOn)
  })

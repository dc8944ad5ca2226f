/**
 * Writes to standard output and waits for the reader, so that memory holds one chunk at most.
 * @returns false if nobody reads any more
 */
export function createPrinter(stdout: NodeJS.WriteStream): (text: string) => Promise<boolean> {
  let isRead = true
  stdout.on('error', () => {
    isRead = false
  })
  return async (text) => {
    if (isRead && text !== '' && !stdout.write(text)) await nextEvent(stdout, ['drain', 'close', 'error'])
    return isRead
  }
}

const nextEvent = (stream: NodeJS.WriteStream, events: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const proceed = () => {
      for (const event of events) stream.off(event, proceed)
      resolve()
    }
    for (const event of events) stream.on(event, proceed)
  })

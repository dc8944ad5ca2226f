/**
 * Sends half a body on each of several connections and waits. Replaces closed connections. Ends after a duration in
 * seconds.
 */
const [url = '', seconds = '1', count = '100'] = Bun.argv.slice(2)
const { hostname, port } = new URL(url)
const openedMax = 50_000
const half = 32 * 1024
const request = `POST /merchant/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${2 * half}\r\n\r\n${' '.repeat(half)}`
const endsAt = performance.now() + Number(seconds) * 1_000

let opened = 0
async function client(): Promise<void> {
  while (performance.now() < endsAt && opened++ < openedMax) {
    await new Promise<void>((resolve) => {
      Bun.connect({
        hostname,
        port: Number(port),
        socket: { open: (socket) => void socket.write(request), data: () => undefined, close: () => resolve(), error: () => resolve() },
      }).catch(() => resolve())
    })
  }
}

for (let nth = 0; nth < Number(count); nth++) void client()
setTimeout(() => process.exit(0), Number(seconds) * 1_000)

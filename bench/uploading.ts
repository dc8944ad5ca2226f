/** Uploads a file repeatedly until killed. The arguments are URL, token and file. */
const [url = '', token = '', file = ''] = Bun.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/pdf' }
process.stdout.write('sending\n')
/** Uploads once more. */
async function send(): Promise<void> {
  const answer = await fetch(url, { method: 'PUT', headers: headers, body: Bun.file(file) })
  if (answer.status !== 200) throw new Error(`the upload answered ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

for (;;) await send()

export {}

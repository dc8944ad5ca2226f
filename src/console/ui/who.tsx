import { emailOf } from '../lib/accounts.ts'
import { pathWith } from '../lib/api.ts'
import { net } from '../lib/shop.ts'
import { short } from '../lib/short.ts'

/** What whoever did something is called, for operators: by their e-mail address, where they have an account; else by their id. */
export function WhoIs({ id }: { id: string }) {
  const email = emailOf(id)
  return email === undefined ? <code>{id}</code> : <bdi title={id}>{short(email, 120)}</bdi>
}

/** The same, as a way to whatever else they did. */
export const Who = ({ id }: { id: string }) => (
  <a href={pathWith(net('audit'), { actor: id })}>
    <WhoIs id={id} />
  </a>
)

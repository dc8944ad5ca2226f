import { pathWith } from '../lib/api.ts'
import { net } from '../lib/shop.ts'

/** Who did something, by their id: a way to whatever else they did, for operators. */
export const Who = ({ id }: { id: string }) => (
  <a href={pathWith(net('audit'), { actor: id })}>
    <code>{id}</code>
  </a>
)

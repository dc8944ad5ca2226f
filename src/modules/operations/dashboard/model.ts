import { t } from 'elysia'

const Version = t.String({ description: 'Version of the program, as in `souk version`' })

export const Live = t.Object({ status: t.Literal('ok'), version: Version })
export const Ready = t.Object({
  status: t.Literal('ok'),
  version: Version,
  checks: t.Array(t.Object({ name: t.String(), ok: t.Boolean() })),
})

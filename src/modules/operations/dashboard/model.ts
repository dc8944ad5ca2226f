import { t } from 'elysia'

const Version = t.String({ description: 'Of the program, as `souk version` prints it.' })

export const Live = t.Object({ status: t.Literal('ok'), version: Version })
export const Ready = t.Object({
  status: t.Literal('ok'),
  version: Version,
  checks: t.Array(t.Object({ name: t.String(), ok: t.Boolean() })),
})

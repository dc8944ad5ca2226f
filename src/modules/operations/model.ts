import { t } from 'elysia'

export const Live = t.Object({ status: t.Literal('ok') })
export const Ready = t.Object({ status: t.Literal('ok'), checks: t.Array(t.Object({ name: t.String(), ok: t.Boolean() })) })

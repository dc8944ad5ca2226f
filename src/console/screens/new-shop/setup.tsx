import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { ApiError } from '../../lib/api/api-error.ts'
import { browserTimeZone } from '../../lib/format/format.ts'
import { linkToken } from '../../lib/session/link-token.ts'
import { setUp } from '../../lib/session/session.ts'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { NewShopFields, textsOf, useNewShop } from './fields.tsx'
import { t } from './i18n.ts'
import { newShopBody } from './new-shop.domain.ts'

/** The first run: creates the account of the administrator and their shop. */
export default function Setup() {
  const linkedToken = linkToken.value?.page === 'setup' ? linkToken.value.token : ''
  const token = useSignal(linkedToken)
  const [needsToken, setNeedsToken] = useState(linkedToken === '')
  const email = useSignal('')
  const password = useSignal('')
  const shop = useNewShop()
  async function send(): Promise<void> {
    const account = { token: token.value.trim(), email: email.value.trim(), password: password.value }
    try {
      await setUp({ ...account, shop: newShopBody(textsOf(shop), browserTimeZone()) })
      linkToken.value = undefined
    } catch (error) {
      // The token of the address is used or expired: the terminal has another one.
      if (error instanceof ApiError && error.status === 401) setNeedsToken(true)
      throw error
    }
  }
  return (
    <>
      <p>{t('setupText')}</p>
      <Form onSubmit={send} submit={t('setupGo')} label={t('setupTitle')}>
        {needsToken && <TextField label={t('setupToken')} bind={token} name="token" hint={t('setupTokenHint')} code required />}
        <TextField label={t('email')} bind={email} name="email" type="email" autoComplete="username" required />
        <TextField
          label={t('password')}
          bind={password}
          name="password"
          type="password"
          autoComplete="new-password"
          hint={t('passwordHint')}
          required
        />
        <h2>{t('shop')}</h2>
        <NewShopFields fields={shop} />
      </Form>
    </>
  )
}

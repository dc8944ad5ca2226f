import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { Refused } from '../../lib/api/api-error.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { c } from '../../lib/i18n/common.ts'
import { shop, shopName } from '../../lib/session/current-shop.ts'
import { standing } from '../../lib/session/session.ts'
import { Copyable, Note, State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/error-message.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'

/** How long an old key goes on, in seconds. */
const graces = [0, 3_600, 21_600, 86_400] as const
type Grace = `${(typeof graces)[number]}`

/** A secret key that is on the page, and of a new one until when the one before goes on: null where it has ended. */
type Shown = { readonly key: string; readonly previousUntil?: string | null }

export default function Keys() {
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  return (
    <Page
      title={w('title')}
      subtitle={
        <>
          <State of={shop.value?.mode ?? 'TEST'} /> {w('subtitle')}
        </>
      }
    >
      <Publishable />
      <Secret shown={shown} setShown={setShown} />
      <Rotate onRotated={setShown} />
    </Page>
  )
}

function Publishable() {
  const name = shopName.value ?? ''
  // A shop that goes live has other keys.
  const found = useResource(`${name} ${shop.value?.mode}`, (signal) =>
    ok(api.GET('/shops/v2/public/name/{shopName}', { params: { path: { shopName: name } }, signal })),
  )
  return (
    <Section title={w('publishable')} hint={w('publishableHint')}>
      {shop.value?.status === 'SUSPENDED' ? (
        <p>{w('suspended')}</p>
      ) : (
        <Loaded of={found} lines={1}>
          {({ publishableKey }) => (publishableKey ? <Copyable text={publishableKey} label={w('publishable')} /> : <p>{c('none')}</p>)}
        </Loaded>
      )}
    </Section>
  )
}

function Secret({ shown, setShown }: { shown: Shown | undefined; setShown: (shown: Shown | undefined) => void }) {
  const [error, setError] = useState<unknown>(undefined)
  async function show(): Promise<void> {
    const isSure = await confirm({ title: w('showTitle'), body: <p>{w('showText')}</p>, action: w('show') })
    if (!isSure) return
    setError(undefined)
    try {
      const { privateKey } = await ok(api.GET('/shops/v2/private-key', { cache: 'no-store' }))
      setShown({ key: privateKey })
    } catch (refusal) {
      setError(refusal)
    }
  }
  return (
    <Section title={w('secret')} hint={w('secretHint')}>
      <div role="status" class="stack">
        {shown && standing.value !== 'locked' && (
          <>
            {shown.previousUntil !== undefined && (
              <Note tone="warn">
                {w('rotated')}{' '}
                {shown.previousUntil === null ? (
                  w('previousOver')
                ) : (
                  <>
                    {w('previousUntil')} <When at={shown.previousUntil} />
                  </>
                )}
              </Note>
            )}
            <Copyable text={shown.key} label={w('secret')} />
          </>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {error instanceof Refused && error.status === 429 && <p class="hint">{w('tenAnHour')}</p>}
      <div class="row">
        {shown ? <Button onPress={() => setShown(undefined)}>{w('hide')}</Button> : <Button onPress={show}>{w('show')}</Button>}
      </div>
    </Section>
  )
}

function Rotate({ onRotated }: { onRotated: (shown: Shown) => void }) {
  const grace = useSignal<Grace>('3600')
  // Sent twice, it would end the key that the first one made.
  const once = useIntention()
  async function rotate(): Promise<void> {
    const graceSeconds = Number(grace.value)
    const isSure = await confirm({
      title: w('rotateTitle'),
      body: <p>{graceSeconds === 0 ? w('rotateNow') : w('rotateLater', { grace: w(`grace.${grace.value}`) })}</p>,
      action: w('rotate'),
      danger: true,
    })
    if (!isSure) return
    const { privateKey, previousKeyExpiresAt } = await once({ graceSeconds }, (key) =>
      ok(api.POST('/shops/v2/private-key/rotate', { params: { header: { 'idempotency-key': key } }, body: { graceSeconds } })),
    )
    onRotated({ key: privateKey, previousUntil: graceSeconds === 0 ? null : previousKeyExpiresAt })
  }
  return (
    <Section title={w('rotateSection')} hint={w('rotateHint')}>
      <Form onSubmit={rotate} submit={w('rotate')} danger label={w('rotateSection')}>
        <SelectField
          bind={grace}
          label={w('grace')}
          hint={w('graceHint')}
          options={graces.map((seconds) => [`${seconds}` as Grace, w(`grace.${seconds}`)])}
        />
      </Form>
    </Section>
  )
}

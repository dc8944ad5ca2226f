/** Tests searching words of many languages on both engines. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { blogs, collections, products } from '../../../../db/schema/catalog.ts'
import { searchFills } from '../../../../db/schema/search-index.ts'
import { productSearch } from '../../../../db/search.ts'
import { fillSearch } from '../../../../jobs/fill-search.ts'
import { type Json, testApp } from '../../../support/app.ts'
import { shopIn } from '../../../support/catalog.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

/** Words of a language, each with its spelling on a keyboard that lacks the special letters: `word=typed`. */
const languages = {
  German:
    'Straße=strasse Grüße=grusse Fußball=fussball Weißbier=weissbier Maß=mass süß=suss Schlüssel=schlussel Äpfel=apfel Öl=ol Übung=ubung Käse=kase Möbel=mobel Tür=tur Gewürz=gewurz Spaß=spass heiß=heiss Größe=grosse Löffel=loffel Bär=bar Kürbis=kurbis',
  Polish:
    'łódź=lodz żółw=zolw ćma=cma świeca=swieca gęś=ges źrebak=zrebak miód=miod książka=ksiazka łyżka=lyzka wełna=welna słoń=slon dąb=dab pięść=piesc łąka=laka kołdra=koldra żaba=zaba ciało=cialo mały=maly stół=stol późno=pozno',
  Turkish:
    'ıslak=islak ılık=ilik ışık=isik kapı=kapi balık=balik çay=cay şeker=seker yağmur=yagmur gözlük=gozluk üzüm=uzum kırmızı=kirmizi sarı=sari mısır=misir ağaç=agac İstanbul=istanbul İzmir=izmir İpek=ipek yıldız=yildiz altın=altin kılıç=kilic',
  Danish:
    'smørrebrød=smorrebrod rød=rod grøn=gron øl=ol æble=aeble år=ar blå=bla brød=brod køkken=kokken sæbe=saebe båd=bad fløde=flode ærter=aerter åkande=akande skåret=skaret møbel=mobel kærlighed=kaerlighed hønse=honse nål=nal vægt=vaegt',
  Icelandic:
    'þorskur=thorskur ðal=dal maður=madur þvottur=thvottur æðardúnn=aedardunn góður=godur bók=bok hús=hus ullarþráður=ullarthradur skór=skor kaffi=kaffi mjólk=mjolk brauð=braud smjör=smjor ís=is blóm=blom lopapeysa=lopapeysa fiskur=fiskur rúm=rum hnífur=hnifur',
  Croatian:
    'đak=dak čaša=casa šećer=secer žlica=zlica ćevapi=cevapi rođendan=rodendan mađarski=madarski čizma=cizma košulja=kosulja nož=noz čokolada=cokolada šešir=sesir džep=dzep anđeo=andeo leđa=leda križ=kriz puž=puz ključ=kljuc riža=riza češalj=cesalj',
  Vietnamese:
    'đèn=den đỏ=do đường=duong phở=pho nước=nuoc mắm=mam áo=ao dài=dai cà=ca phê=phe bánh=banh mì=mi đũa=dua gạo=gao trà=tra sữa=sua muối=muoi ớt=ot đậu=dau quần=quan',
  French:
    'œuf=oeuf cœur=coeur sœur=soeur forêt=foret garçon=garcon crème=creme brûlée=brulee château=chateau noël=noel français=francais île=ile hôtel=hotel tôt=tot fenêtre=fenetre pâte=pate théière=theiere œuvre=oeuvre ça=ca maïs=mais âne=ane',
  Spanish:
    'niño=nino España=espana corazón=corazon jamón=jamon café=cafe azúcar=azucar pingüino=pinguino árbol=arbol lámpara=lampara sillón=sillon cañón=canon baño=bano piña=pina limón=limon sábana=sabana colchón=colchon algodón=algodon cinturón=cinturon balón=balon té=te',
  Czech:
    'čaj=caj příbor=pribor žlutý=zluty kůň=kun řeka=reka šálek=salek děti=deti tužka=tuzka svíčka=svicka chléb=chleb dům=dum knížka=knizka polštář=polstar zvíře=zvire měď=med hůl=hul křeslo=kreslo skříň=skrin žába=zaba oříšek=orisek',
  Russian:
    'чайник=чайник синий=синии мой=мои ёлка=елка мёд=мед йод=иод щётка=щетка лёд=лед чёрный=черныи зелёный=зелёный краска=краска кофе=кофе стол=стол стул=стул лампа=лампа ковёр=ковер шёлк=шелк ножницы=ножницы подушка=подушка белый=белый',
  Ukrainian:
    'їжак=іжак мій=міи ґудзик=ґудзик зелений=зелений подушка=подушка свічка=свічка їдальня=їдальня кружка=кружка чайник=чайник ложка=ложка виделка=виделка серветка=серветка ковдра=ковдра рушник=рушник килим=килим вікно=вікно двері=двері стілець=стілець глечик=глечик український=український',
  Greek:
    'καφές=καφεσ ψωμί=ψωμι λάδι=λαδι ελιά=ελια τυρί=τυρι μέλι=μελι κρασί=κρασι θάλασσα=θαλασσα ήλιος=ηλιος δρόμος=δρομος σπίτι=σπιτι τραπέζι=τραπεζι καρέκλα=καρεκλα φως=φωσ νερό=νερο βιβλίο=βιβλιο μαχαίρι=μαχαιρι κουτάλι=κουταλι πιρούνι=πιρουνι αϋπνία=αυπνια',
  Arabic:
    'كِتاب=كتاب قَهْوَة=قهوة شاي=شاي سُكَّر=سكر مِصباح=مصباح أزرق=ازرق إبريق=ابريق آلة=الة كرسي=كرسي طاولة=طاولة باب=باب نافذة=نافذة سجّاد=سجاد وسادة=وسادة ملعقة=ملعقة سكين=سكين شوكة=شوكة عسـل=عسل تمر=تمر زيتون=زيتون',
  Mongolian:
    'цай=цаи сүү=сүү өвөл=өвөл морь=морь малгай=малгаи гутал=гутал дээл=дээл ноолуур=ноолуур хивс=хивс ширээ=ширээ сандал=сандал аяга=аяга халбага=халбага хутга=хутга ёс=ес уйгур=уигур нэхий=нэхии эсгий=эсгии зөгийн=зөгиин ундаа=ундаа',
} as const

test.each(Object.entries(languages))('shoppers and shops find twenty words of %s in each spelling', async (_language, text) => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const words = text.split(' ').map((pair) => pair.split('=') as [string, string])
  expect(words).toHaveLength(20)
  // `toUpperCase` below converts both the dotted and the dotless i to I, because it does not know the language.
  await shop.add({ title: words.map(([word]) => word).join(' '), status: 'ACTIVE' })
  await shop.add({ title: 'Another', status: 'ACTIVE' })
  for (const [word, typed] of words) {
    const spellings = [word, word.normalize('NFD'), typed, typed.toUpperCase(), word.toUpperCase()]
    for (const spelling of new Set(spellings)) {
      const q = encodeURIComponent(spelling)
      const publicResult = (await app.call('GET', `${shop.list}?q=${q}`)).body
      const managedResult = (await shop.get(`/product-v2?q=${q}`)).body
      expect([spelling, publicResult.total, managedResult.total]).toEqual([spelling, 1, 1])
    }
  }
})

test('handles, slugs, tags, codes and SKUs match in either Unicode normal form, in every path', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const [composed, decomposed] = ['café-й', 'café-й'.normalize('NFD')]
  const send = (method: string, path: string, body: Json) => app.call(method, path, { key: shop.secretKey, body })
  const created = await send('POST', '/product-v2', {
    title: 'Coffee',
    handle: decomposed,
    tags: [decomposed, composed],
    status: 'ACTIVE',
    variants: [{ sku: decomposed, price: { amount: 100, currency: 'USD' } }],
  })
  expect(created.body).toMatchObject({ handle: composed, tags: [composed], variants: [{ sku: composed }] })
  const changed = await send('PATCH', `/product-v2/${created.body.id}`, { handle: decomposed, tags: [decomposed] })
  expect(changed.body).toMatchObject({ handle: composed, tags: [composed] })
  expect((await send('POST', '/product-v2', { title: 'Other', handle: decomposed })).status).toBe(409)
  const collection = (await send('POST', '/collection-v2', { title: 'Beans', handle: decomposed, publishedAt: '2026-01-01T00:00:00Z' }))
    .body
  expect(collection.handle).toBe(composed)
  await send('PUT', `/collection-v2/${collection.id}/products`, { productIds: [created.body.id] })
  const blog = await send('POST', '/blogs', {
    title: 'News',
    slug: decomposed,
    bodyHtml: '<p>New</p>',
    tags: [decomposed],
    status: 'PUBLISHED',
  })
  expect(blog.body).toMatchObject({ slug: composed, tags: [composed] })
  const discount = await send('POST', '/discounts', { title: 'Sale', code: decomposed, kind: 'PERCENT', valueBps: 1000, status: 'ACTIVE' })
  expect(discount.body.code).toBe(composed)
  for (const form of [composed, decomposed].map(encodeURIComponent)) {
    const name = shop.shop.name
    for (const path of [
      `/product-v2/public/shop/${name}/handle/${form}`,
      `/collection-v2/published/${name}/${form}`,
      `/blogs/public/${form}`,
    ])
      expect([path, (await app.call('GET', path)).status]).toEqual([path, 200])
    for (const path of [`${shop.list}?tag=${form}`, `${shop.list}?collection=${form}`, `${shop.list}?q=${form}`])
      expect([path, (await app.call('GET', path)).body.total]).toEqual([path, 1])
    for (const path of [`/product-v2?tag=${form}`, `/product-v2?sku=${form}`])
      expect([path, (await shop.get(path)).body.total]).toEqual([path, 1])
  }
})

test('vendor and type match in either Unicode normal form, in lists and imports', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const [composed, decomposed] = ['Café Ümlaut', 'Café Ümlaut'.normalize('NFD')]
  const created = await shop.post('/product-v2', {
    title: 'Made',
    status: 'ACTIVE',
    vendor: decomposed,
    type: decomposed,
    variants: [{ price: { amount: 100, currency: 'USD' } }],
  })
  expect(created.body).toMatchObject({ vendor: composed, type: composed })
  const file = `Handle,Title,Vendor,Type,Option1 Name,Option1 Value,Price,Status\nread,Read,${decomposed},${decomposed},Size,${decomposed},1,active\n`
  const send = (raw: string, query = '') =>
    app.call('POST', `/product-v2/import${query}`, { key: shop.secretKey, raw, headers: { 'content-type': 'text/csv' } })
  expect((await send(file)).body).toMatchObject({ created: 1, failed: 0 })
  for (const form of [composed, decomposed].map(encodeURIComponent))
    for (const field of ['vendor', 'type']) {
      expect([field, (await app.call('GET', `${shop.list}?${field}=${form}`)).body.total]).toEqual([field, 2])
      expect([field, (await shop.get(`/product-v2?${field}=${form}`)).body.total]).toEqual([field, 2])
    }
  // The import matches the variants in either form.
  expect((await send(file.normalize('NFC'), '?overwrite=true')).body).toMatchObject({ updated: 1, failed: 0, variantsKept: 0 })
  expect((await shop.get('/product-v2?q=read')).body.data[0].variants).toHaveLength(1)
})

test('stored decomposed handles and slugs are found in either form, and normalized by a change', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const [composed, decomposed] = ['мой-café', 'мой-café'.normalize('NFD')]
  const product = await shop.add({ title: 'Old', handle: composed })
  const { body: collection } = await shop.post('/collection-v2', { title: 'Old', handle: composed, publishedAt: '2026-01-01T00:00:00Z' })
  await shop.put(`/collection-v2/${collection.id}/products`, { productIds: [product.id] })
  const { body: blog } = await shop.post('/blogs', { title: 'Old', slug: composed, bodyHtml: '<p>Old</p>', status: 'PUBLISHED' })
  await app.deps.db.write(async (tx): Promise<void> => {
    await tx.update(products).set({ handle: decomposed }).where(eq(products.id, product.id))
    await tx.update(collections).set({ handle: decomposed }).where(eq(collections.id, collection.id))
    await tx.update(blogs).set({ slug: decomposed }).where(eq(blogs.id, blog.id))
  })
  const name = shop.shop.name
  for (const form of [composed, decomposed].map(encodeURIComponent)) {
    for (const path of [
      `/product-v2/public/shop/${name}/handle/${form}`,
      `/collection-v2/published/${name}/${form}`,
      `/blogs/public/${form}`,
    ])
      expect([path, (await app.call('GET', path)).status]).toEqual([path, 200])
    expect((await app.call('GET', `${shop.list}?collection=${form}`)).body.total).toBe(1)
  }
  const raw = `Handle,Title\n${decomposed},New\n`
  const headers = { 'content-type': 'text/csv' }
  const report = await app.call('POST', '/product-v2/import?overwrite=true', { key: shop.secretKey, raw, headers })
  expect(report.body).toMatchObject({ created: 0, updated: 1, failed: 0 })
  expect((await shop.get(`/product-v2/${product.id}`)).body).toMatchObject({ handle: composed, title: 'New' })
  // If both forms of a handle exist, the composed one is found.
  const { body: composedCollection } = await shop.post('/collection-v2', {
    title: 'New',
    handle: composed,
    publishedAt: '2026-01-01T00:00:00Z',
  })
  for (const form of [composed, decomposed].map(encodeURIComponent))
    expect((await app.call('GET', `/collection-v2/published/${name}/${form}`)).body.id).toBe(composedCollection.id)
})

test('after an upgrade, the search backfill normalizes the words of products indexed before', async () => {
  await using app = await testApp()
  const shop = await shopIn(app)
  const { id } = await shop.add({ title: 'Straße', status: 'ACTIVE' })
  const found = async (q: string) => (await app.call('GET', `${shop.list}?q=${encodeURIComponent(q)}`)).body.total
  const shopId: string = shop.shop.id
  const visibleFrom = app.clock.now()
  await app.deps.db.write(async (tx): Promise<void> => {
    await productSearch.renew(tx, { productId: id, shopId, visibleFrom, words: ['straße'], tags: [] })
  })
  expect(await found('strasse')).toBe(0)
  await app.deps.db.write(async (tx): Promise<void> => {
    await tx.insert(searchFills).values({ subject: 'PRODUCTS', below: '~', done: 0 })
  })
  await fillSearch(app.deps)
  expect(await app.deps.db.read.select().from(searchFills)).toEqual([])
  expect([await found('strasse'), await found('STRASSE'), await found('stra')]).toEqual([1, 1, 1])
})

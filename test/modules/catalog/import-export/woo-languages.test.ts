import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { isWooHeader, mapWooHeader } from '../../../../src/modules/catalog/import-export/csv-woo-columns.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const fields = [
  'id',
  'type',
  'sku',
  'name',
  'published',
  'shortDescription',
  'description',
  'taxStatus',
  'taxClass',
  'inStock',
  'stock',
  'backorders',
  'weight',
  'salePrice',
  'regularPrice',
  'categories',
  'tags',
  'images',
  'parent',
  'attribute1Name',
  'attribute1Values',
] as const

const headers = {
  English:
    'ID|Type|SKU|Name|Published|Short description|Description|Tax status|Tax class|In stock?|Stock|Backorders allowed?|Weight (kg)|Sale price|Regular price|Categories|Tags|Images|Parent|Attribute 1 name|Attribute 1 value(s)|Attribute 1 visible|Attribute 1 global|Attribute 1 default',
  German:
    'ID|Typ|Artikelnummer|Name|Veröffentlicht|Kurzbeschreibung|Beschreibung|Steuerstatus|Steuerklasse|Vorrätig?|Lager|Lieferrückstand erlaubt?|Gewicht (kg)|Angebotspreis|Regulärer Preis|Kategorien|Schlagwörter|Bilder|Übergeordnet|Attribut 1 Name|Attribut 1 Wert(e)|Attribut 1 Sichtbar|Attribut 1 Global|Attribut 1 Standard',
  French:
    'ID|Type|UGS|Nom|Publié|Description courte|Description|État de la TVA|Classe de TVA|En stock ?|Stock|Autoriser les commandes de produits en rupture ?|Poids (kg)|Tarif promo|Tarif régulier|Catégories|Étiquettes|Images|Parent|Nom de l’attribut 1|Valeur(s) de l’attribut 1|Attribut 1 visible|Attribut 1 global|Valeur par défaut de l’attribut 1',
  Spanish:
    'ID|Tipo|SKU|Nombre|Publicado|Descripción corta|Descripción|Estado del impuesto|Clase de impuesto|¿Existencias?|Inventario|¿Permitir reservas de productos agotados?|Peso (kg)|Precio rebajado|Precio normal|Categorías|Etiquetas|Imágenes|Superior|Nombre del atributo 1|Valor(es) del atributo 1|Atributo visible 1|Atributo global 1|Atributo por defecto 1',
  Italian:
    "ID|Tipo|COD|Nome|Pubblicato|Breve descrizione|Descrizione|Stato delle imposte|Aliquota di imposta|In magazzino?|Magazzino|Abilita gli ordini arretrati?|Peso (kg)|Prezzo in offerta|Prezzo di listino|Categorie|Tag|Immagini|Genitore|Nome dell'attributo 1|Valore/i dell'attributo 1|Attributo 1 visibile|Attributo 1 globale|Attributo 1 predefinito",
  'Portuguese of Brazil':
    'ID|Tipo|SKU|Nome|Publicado|Descrição curta|Descrição|Status do imposto|Classe de imposto|Em estoque?|Estoque|São permitidas encomendas?|Peso (kg)|Preço promocional|Preço|Categorias|Tags|Imagens|Ascendente|Nome do atributo 1|Valores do atributo 1|Visibilidade do atributo 1|Atributo global 1|Atributo padrão 1',
  Portuguese:
    'ID|Tipo|REF|Nome|Publicado|Breve descrição|Descrição|Estado do imposto|Classe de imposto|Em stock?|Stock|Permitir encomendas?|Peso (kg)|Preço promocional|Preço normal|Categorias|Etiquetas|Imagens|Superior|Nome do atributo 1|Valor(es) do atributo 1|Atributo 1 visível|Atributo 1 global|Atributo 1 padrão',
  Dutch:
    'ID|Type|SKU|Naam|Gepubliceerd|Korte beschrijving|Beschrijving|Btw status|Btw klasse|Op voorraad?|Voorraad|Nabestellingen toegestaan?|Gewicht (kg)|Actieprijs|Reguliere prijs|Categorieën|Tags|Afbeeldingen|Hoofd|Attribuut 1 naam|Attribuut 1 waarde(n)|Attribuut 1 zichtbaar|Attribuut 1 globaal|Attribuut 1 standaard',
  Polish:
    'ID|Rodzaj|SKU|Nazwa|Opublikowano|Krótki opis|Opis|Status podatku|Klasa podatkowa|Na stanie?|Stan magazynowy|Dopuszczone zamówienia oczekujące?|Waga (kg)|Cena promocyjna|Cena regularna|Kategorie|Tagi|Obrazki|Nadrzędny|Nazwa atrybutu 1|Wartości atrybutu 1|Widoczność atrybutu 1|Globalny atrybut 1|Domyślny atrybut 1',
  Russian:
    'ID|Тип|Артикул|Имя|Опубликован|Краткое описание|Описание|Статус налога|Налоговый класс|Наличие|Запасы|Возможен ли предзаказ?|Вес (kg)|Цена распродажи|Базовая цена|Категории|Метки|Изображения|Родительский|Название атрибута 1|Значения атрибутов 1|Видимость атрибута 1|Глобальный атрибут 1|Атрибут 1 по умолчанию',
  Japanese:
    'ID|タイプ|SKU|名前|公開済み|簡単な説明|説明|税ステータス|税クラス|在庫あり ?|在庫|予約注文を許可しますか ?|重量 (kg)|セール価格|通常価格|カテゴリー|タグ|画像|親|属性 1 名|属性 1 値|属性 1 の表示|属性 1 グローバル|属性 1 デフォルト',
  Turkish:
    'ID|Tür|Stok kodu (SKU)|İsim|Yayımlanmış|Kısa açıklama|Açıklama|Vergi durumu|Vergi sınıfı|Stokta?|Stok|Yok satmaya izin?|Ağırlık (kg)|İndirimli satış fiyatı|Normal fiyat|Kategoriler|Etiketler|Görseller|Ebeveyn|Nitelik 1 ismi|Nitelik 1 değer(ler)i|Nitelik 1 görünür|Nitelik 1 genel|Nitelik 1 varsayılan',
} as const

describe.each(Object.entries(headers))('a WooCommerce header in %s', (_language, text) => {
  const header = text.split('|')
  test('recognises the WooCommerce header and maps every imported column', () => {
    expect(isWooHeader(header)).toBe(true)
    const { indexes, gramsPerUnit, attributes } = mapWooHeader(header)
    expect(Object.fromEntries(indexes)).toEqual(Object.fromEntries(fields.map((field, at) => [field, at])))
    expect([gramsPerUnit, attributes]).toEqual([1000, [1]])
  })
  test('recognises the WooCommerce header in lower case, decomposed Unicode and other white space', () => {
    const other = header.map((name) => ` ${name.toLocaleLowerCase('und').normalize('NFD').replaceAll(' ', '  ')}`)
    expect(Object.fromEntries(mapWooHeader(other).indexes)).toEqual(Object.fromEntries(mapWooHeader(header).indexes))
  })
})

test('a Shopify header and headers without a name column are not WooCommerce headers', () => {
  for (const text of ['Handle,Title,Type,Name', 'Title,Type,Name', 'Type,SKU', 'Typ,Preis'])
    expect(isWooHeader(text.split(','))).toBe(false)
})

const shortHeaders = {
  Danish:
    'ID|Type|Varenummer (SKU)|Navn|Udgivet|Kort beskrivelse|Beskrivelse|På lager?|Lager|Vægt (kg)|Tilbudspris|Normalpris|Kategorier|Tags|Billeder|Egenskab 1 navn|Egenskab 1 værdi(er)',
  Norwegian:
    'ID|Type|Varenummer|Navn|Publisert|Kort beskrivelse|Beskrivelse|På lager?|Lager|Vekt (kg)|Tilbudspris|Vanlig pris|Kategorier|Stikkord|Bilder|Attributt 1 navn|Attributt 1 verdi(er)',
  Finnish:
    'ID|Tyyppi|Tuotetunnus (SKU)|Nimi|Julkaistu|Lyhyt kuvaus|Kuvaus|Varastossa?|Varasto|Paino (kg)|Tarjoushinta|Normaalihinta|Osastot|Avainsanat|Kuvat|Ominaisuuden 1 nimi|Ominaisuuden 1 arvo(t)',
  Czech:
    'ID|Typ|Katalogové číslo|Jméno|Publikovaný|Krátký popis|Popis|Skladem?|Sklad|Hmotnost (kg)|Cena po slevě|Běžná cena|Kategorie|Štítky|Obrázky|Název 1 vlastnosti|Hodnota 1 vlastnosti',
  Hebrew: 'ID|סוג|מק״ט|שם|פורסם|תיאור קצר|תיאור|במלאי?|מלאי|משקל (kg)|מחיר מבצע|מחיר רגיל|קטגוריות|תגיות|תמונות|שם תכונה 1|ערך תכונה 1',
  Ukrainian:
    'ID|Тип|Артикул|Назва|Опубліковано|Короткий опис|Опис|В наявності?|Запас|Вага (kg)|Ціна розпродажу|Звичайна ціна|Категорії|Позначки|Зображення|Назва атрибута 1|Значення атрибута 1',
} as const
const shortFields = fields.filter((field) => !['taxStatus', 'taxClass', 'backorders', 'parent'].includes(field))

test.each(Object.entries(shortHeaders))('recognises the columns of a WooCommerce header in %s', (_language, text) => {
  const header = text.split('|')
  expect(isWooHeader(header)).toBe(true)
  const { indexes, gramsPerUnit, attributes } = mapWooHeader(header)
  expect(Object.fromEntries(indexes)).toEqual(Object.fromEntries(shortFields.map((field, at) => [field, at])))
  expect([gramsPerUnit, attributes]).toEqual([1000, [1]])
})

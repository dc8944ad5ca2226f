CREATE TABLE "product_summaries" (
	"product_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"summary" text COLLATE "C" NOT NULL
);--> statement-breakpoint
DROP INDEX "collection_products_order";--> statement-breakpoint
DROP INDEX "product_documents_newest";--> statement-breakpoint
DROP INDEX "product_documents_title";--> statement-breakpoint
DROP INDEX "product_documents_price";--> statement-breakpoint
DROP INDEX "product_documents_vendor";--> statement-breakpoint
DROP INDEX "product_documents_type";--> statement-breakpoint
DROP INDEX "product_documents_available";--> statement-breakpoint
ALTER TABLE "collection_products" ADD COLUMN "visible_from" bigint;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "min_price" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "max_price" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "spread" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "product_documents" ADD COLUMN "tag_bits" bigint DEFAULT -1 NOT NULL;--> statement-breakpoint
ALTER TABLE "product_summaries" ADD CONSTRAINT "product_summaries_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
UPDATE product_documents SET min_price = v.lowest, max_price = v.highest,
  spread = CASE WHEN v.highest > v.lowest THEN length(CAST(v.highest - v.lowest AS text)) ELSE 0 END
  FROM (SELECT product_id, min(price) AS lowest, max(price) AS highest FROM variants GROUP BY product_id) v WHERE v.product_id = product_documents.product_id;--> statement-breakpoint
UPDATE collection_products SET visible_from = (SELECT d.visible_from FROM product_documents d WHERE d.product_id = collection_products.product_id);--> statement-breakpoint
INSERT INTO search_fills (subject, below, done) SELECT 'SUMMARIES', '~', 0 WHERE EXISTS (SELECT 1 FROM product_documents);--> statement-breakpoint
CREATE INDEX "blogs_published" ON "blogs" USING btree ("shop_id","status","published_at","id");--> statement-breakpoint
CREATE INDEX "collections_published" ON "collections" USING btree ("shop_id","published_at","id");--> statement-breakpoint
CREATE INDEX "product_documents_spread" ON "product_documents" USING btree ("shop_id","spread","max_price","min_price","newest_key","visible_from","vendor","type","available","tag_bits") WHERE spread > 0;--> statement-breakpoint
CREATE INDEX "product_documents_facts" ON "product_documents" USING btree ("product_id","visible_from","vendor","type","available","min_price","max_price","tag_bits","title_key");--> statement-breakpoint
CREATE INDEX "collection_products_order" ON "collection_products" USING btree ("collection_id","position","visible_from","product_id");--> statement-breakpoint
CREATE INDEX "product_documents_newest" ON "product_documents" USING btree ("shop_id","newest_key","visible_from","vendor","type","available","min_price","max_price","tag_bits");--> statement-breakpoint
CREATE INDEX "product_documents_title" ON "product_documents" USING btree ("shop_id","title_key","visible_from","vendor","type","available","min_price","max_price","tag_bits");--> statement-breakpoint
CREATE INDEX "product_documents_price" ON "product_documents" USING btree ("shop_id","price_key","visible_from","vendor","type","available","min_price","max_price","tag_bits");--> statement-breakpoint
CREATE INDEX "product_documents_vendor" ON "product_documents" USING btree ("shop_id","vendor","newest_key","visible_from","type","available","min_price","max_price","tag_bits");--> statement-breakpoint
CREATE INDEX "product_documents_type" ON "product_documents" USING btree ("shop_id","type","newest_key","visible_from","vendor","available","min_price","max_price","tag_bits");--> statement-breakpoint
CREATE INDEX "product_documents_available" ON "product_documents" USING btree ("shop_id","available","newest_key","visible_from","vendor","type","min_price","max_price","tag_bits");
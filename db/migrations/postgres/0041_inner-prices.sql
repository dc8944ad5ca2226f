CREATE TABLE "product_inner_prices" (
	"product_id" text COLLATE "C" NOT NULL,
	"price" bigint NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "product_inner_prices_product_id_price_pk" PRIMARY KEY("product_id","price")
);
--> statement-breakpoint
INSERT INTO product_inner_prices (product_id, price, shop_id)
  SELECT DISTINCT v.product_id, v.price, d.shop_id FROM product_documents d JOIN variants v ON v.product_id = d.product_id
  WHERE d.spread > 0 AND v.price > d.min_price AND v.price < d.max_price;--> statement-breakpoint
DROP INDEX "product_documents_spread";--> statement-breakpoint
ALTER TABLE "product_inner_prices" ADD CONSTRAINT "product_inner_prices_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_inner_prices" ADD CONSTRAINT "product_inner_prices_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "product_inner_prices_price" ON "product_inner_prices" USING btree ("shop_id","price","product_id");--> statement-breakpoint
CREATE INDEX "product_documents_spread" ON "product_documents" USING btree ("shop_id","spread","max_price","min_price","newest_key","visible_from","vendor","type","available","tag_bits","title_key") WHERE spread > 0;--> statement-breakpoint
ALTER TABLE "product_documents" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "product_tags" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "collection_products" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE TABLE "api_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"prefix" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"scopes" text NOT NULL,
	"sealed" text COLLATE "C",
	"public_value" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"last_used_at" bigint,
	"expires_at" bigint
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"bucket" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"action" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C",
	"request_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "blogs" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"excerpt" text COLLATE "C",
	"body_html" text COLLATE "C" NOT NULL,
	"cover_image" text COLLATE "C",
	"author" text COLLATE "C",
	"tags" text NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"published_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"words" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "collection_products" (
	"collection_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"product_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "collection_products_collection_id_product_id_pk" PRIMARY KEY("collection_id","product_id")
);
--> statement-breakpoint
CREATE TABLE "collections" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"handle" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description_html" text COLLATE "C" NOT NULL,
	"image" text,
	"published_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "customers" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"password_hash" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "encryption_keys" (
	"version" text COLLATE "C" PRIMARY KEY NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"retired_at" bigint
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"scope" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"fingerprint" text COLLATE "C" NOT NULL,
	"attempt" text COLLATE "C" NOT NULL,
	"lease_until" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"sealed_answer" text COLLATE "C",
	CONSTRAINT "idempotency_keys_scope_key_pk" PRIMARY KEY("scope","key")
);
--> statement-breakpoint
CREATE TABLE "listing_anchors" (
	"shop_id" text COLLATE "C" NOT NULL,
	"sort" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"documents" integer NOT NULL,
	CONSTRAINT "listing_anchors_shop_id_sort_key_pk" PRIMARY KEY("shop_id","sort","key")
);
--> statement-breakpoint
CREATE TABLE "listing_changes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"newest_key" text COLLATE "C" NOT NULL,
	"title_key" text COLLATE "C" NOT NULL,
	"price_key" text COLLATE "C" NOT NULL,
	"documents" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "product_documents" (
	"product_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"document" text COLLATE "C" NOT NULL,
	"etag" text COLLATE "C" NOT NULL,
	"visible_from" bigint NOT NULL,
	"newest_key" text COLLATE "C" NOT NULL,
	"title_key" text COLLATE "C" NOT NULL,
	"price_key" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "product_tags" (
	"product_id" text COLLATE "C" NOT NULL,
	"tag" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"newest_key" text COLLATE "C" NOT NULL,
	CONSTRAINT "product_tags_product_id_tag_pk" PRIMARY KEY("product_id","tag")
);
--> statement-breakpoint
CREATE TABLE "products" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"handle" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description_html" text COLLATE "C" NOT NULL,
	"vendor" text COLLATE "C" NOT NULL,
	"type" text COLLATE "C" NOT NULL,
	"tags" text NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"options" text NOT NULL,
	"images" text NOT NULL,
	"seo_title" text COLLATE "C",
	"seo_description" text COLLATE "C",
	"published_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refresh_tokens" (
	"hash" text COLLATE "C" PRIMARY KEY NOT NULL,
	"session_id" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"subject_id" text COLLATE "C" NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"revoked_at" bigint
);
--> statement-breakpoint
CREATE TABLE "shops" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"merchant_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"title" text COLLATE "C" NOT NULL,
	"description" text COLLATE "C" NOT NULL,
	"logo_url" text COLLATE "C",
	"currency" text COLLATE "C" NOT NULL,
	"country" text COLLATE "C" NOT NULL,
	"mode" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"contact" text NOT NULL,
	"address" text NOT NULL,
	"origins" text NOT NULL,
	"tax_rates" text NOT NULL,
	"shipping_methods" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"role" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C" NOT NULL,
	"password_hash" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "variants" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"product_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"sku" text COLLATE "C",
	"barcode" text COLLATE "C",
	"title" text COLLATE "C" NOT NULL,
	"option_values" text NOT NULL,
	"price" bigint NOT NULL,
	"compare_at_price" bigint,
	"cost" bigint,
	"weight_grams" integer NOT NULL,
	"taxable" boolean NOT NULL,
	"track_inventory" boolean NOT NULL,
	"allow_backorder" boolean NOT NULL,
	"on_hand" integer NOT NULL,
	"image_id" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "wallets" (
	"shop_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"address" text COLLATE "C" NOT NULL,
	"sealed_key" text COLLATE "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "blogs" ADD CONSTRAINT "blogs_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collection_products" ADD CONSTRAINT "collection_products_collection_id_collections_id_fk" FOREIGN KEY ("collection_id") REFERENCES "public"."collections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collection_products" ADD CONSTRAINT "collection_products_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "collections" ADD CONSTRAINT "collections_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "listing_anchors" ADD CONSTRAINT "listing_anchors_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "listing_changes" ADD CONSTRAINT "listing_changes_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_documents" ADD CONSTRAINT "product_documents_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_documents" ADD CONSTRAINT "product_documents_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_tags" ADD CONSTRAINT "product_tags_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "product_tags" ADD CONSTRAINT "product_tags_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "products" ADD CONSTRAINT "products_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_tokens" ADD CONSTRAINT "refresh_tokens_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "shops" ADD CONSTRAINT "shops_merchant_id_users_id_fk" FOREIGN KEY ("merchant_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_product_id_products_id_fk" FOREIGN KEY ("product_id") REFERENCES "public"."products"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "wallets" ADD CONSTRAINT "wallets_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_shop" ON "api_keys" USING btree ("shop_id","kind","created_at");--> statement-breakpoint
CREATE INDEX "attempts_bucket" ON "attempts" USING btree ("bucket","at");--> statement-breakpoint
CREATE INDEX "attempts_at" ON "attempts" USING btree ("at");--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject","at");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "blogs_slug" ON "blogs" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "blogs_shop" ON "blogs" USING btree ("shop_id","created_at","id");--> statement-breakpoint
CREATE INDEX "collection_products_order" ON "collection_products" USING btree ("collection_id","position");--> statement-breakpoint
CREATE INDEX "collection_products_product" ON "collection_products" USING btree ("product_id");--> statement-breakpoint
CREATE UNIQUE INDEX "collections_handle" ON "collections" USING btree ("shop_id","handle");--> statement-breakpoint
CREATE INDEX "collections_shop" ON "collections" USING btree ("shop_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "customers_shop_email" ON "customers" USING btree ("shop_id","email");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "listing_changes_shop" ON "listing_changes" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "product_documents_newest" ON "product_documents" USING btree ("shop_id","newest_key","visible_from");--> statement-breakpoint
CREATE INDEX "product_documents_title" ON "product_documents" USING btree ("shop_id","title_key","visible_from");--> statement-breakpoint
CREATE INDEX "product_documents_price" ON "product_documents" USING btree ("shop_id","price_key","visible_from");--> statement-breakpoint
CREATE INDEX "product_tags_newest" ON "product_tags" USING btree ("shop_id","tag","newest_key");--> statement-breakpoint
CREATE UNIQUE INDEX "products_handle" ON "products" USING btree ("shop_id","handle");--> statement-breakpoint
CREATE INDEX "products_shop" ON "products" USING btree ("shop_id","id");--> statement-breakpoint
CREATE INDEX "refresh_tokens_session" ON "refresh_tokens" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "sessions_subject" ON "sessions" USING btree ("subject_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "shops_name" ON "shops" USING btree ("name");--> statement-breakpoint
CREATE INDEX "shops_merchant" ON "shops" USING btree ("merchant_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "variants_product" ON "variants" USING btree ("product_id","position");
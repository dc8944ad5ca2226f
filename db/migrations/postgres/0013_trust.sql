CREATE TABLE "attested_repayments" (
	"chain_id" bigint NOT NULL,
	"uid" text COLLATE "C" NOT NULL,
	"repayment_id" text COLLATE "C",
	"at" bigint NOT NULL,
	CONSTRAINT "attested_repayments_chain_id_uid_pk" PRIMARY KEY("chain_id","uid")
);
--> statement-breakpoint
CREATE TABLE "attestations" (
	"chain_id" bigint NOT NULL,
	"uid" text COLLATE "C" NOT NULL,
	"schema" text COLLATE "C" NOT NULL,
	"attester" text COLLATE "C" NOT NULL,
	"is_of_self" boolean NOT NULL,
	"block_number" bigint NOT NULL,
	"block_at" bigint NOT NULL,
	"revoked_block" bigint,
	"is_counted" boolean NOT NULL,
	"is_demo" boolean NOT NULL,
	CONSTRAINT "attestations_chain_id_uid_pk" PRIMARY KEY("chain_id","uid")
);
--> statement-breakpoint
CREATE TABLE "attester_addresses" (
	"address" text COLLATE "C" PRIMARY KEY NOT NULL,
	"registered_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attester_wallets" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"owner_id" text COLLATE "C",
	"address" text COLLATE "C" NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chain_backfills" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"address" text COLLATE "C" NOT NULL,
	"read_to" bigint,
	"last_block" bigint,
	"from_at" bigint NOT NULL,
	"queued_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chain_checkpoints" (
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" text COLLATE "C" NOT NULL,
	"block_at" bigint NOT NULL,
	CONSTRAINT "chain_checkpoints_chain_id_block_number_pk" PRIMARY KEY("chain_id","block_number")
);
--> statement-breakpoint
CREATE TABLE "chain_syncs" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"contract" text COLLATE "C" NOT NULL,
	"start_block" bigint NOT NULL,
	"counted_to" bigint NOT NULL,
	"counted_to_hash" text COLLATE "C",
	"counted_to_at" bigint,
	"head" bigint,
	"target" bigint,
	"provider" text COLLATE "C",
	"synced_at" bigint,
	"last_error" text COLLATE "C",
	"last_error_at" bigint,
	"halted_because" text COLLATE "C",
	"halted_at" bigint,
	"rescanned_at" bigint,
	"rescanned_to" bigint,
	"rescan_end" bigint,
	"rescan_missing" bigint,
	"rescan_unknown" bigint,
	"lease_holder" text COLLATE "C",
	"lease_until" bigint
);
--> statement-breakpoint
CREATE TABLE "grants" (
	"address" text COLLATE "C" NOT NULL,
	"schema" text COLLATE "C" NOT NULL,
	"from_at" bigint NOT NULL,
	"to_at" bigint,
	CONSTRAINT "grants_address_schema_from_at_pk" PRIMARY KEY("address","schema","from_at")
);
--> statement-breakpoint
CREATE TABLE "ingestions" (
	"service_provider_id" text COLLATE "C" NOT NULL,
	"webhook_id" text COLLATE "C" NOT NULL,
	"received_at" bigint NOT NULL,
	"payload" text COLLATE "C" NOT NULL,
	CONSTRAINT "ingestions_service_provider_id_webhook_id_pk" PRIMARY KEY("service_provider_id","webhook_id")
);
--> statement-breakpoint
CREATE TABLE "methodologies" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"lender_id" text COLLATE "C" NOT NULL,
	"methodology_version" text COLLATE "C" NOT NULL,
	"content_hash" text COLLATE "C" NOT NULL,
	"document_url" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"registered_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "revocations" (
	"chain_id" bigint NOT NULL,
	"uid" text COLLATE "C" NOT NULL,
	"attester" text COLLATE "C" NOT NULL,
	"block_number" bigint NOT NULL,
	CONSTRAINT "revocations_chain_id_uid_pk" PRIMARY KEY("chain_id","uid")
);
--> statement-breakpoint
CREATE TABLE "service_provider_status_history" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"service_provider_id" text COLLATE "C" NOT NULL,
	"position" integer NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service_providers" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"display_name" text COLLATE "C" NOT NULL,
	"archetype" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"sealed_secret" text COLLATE "C" NOT NULL,
	"previous_secret_until" bigint,
	"successful_ingestion_count" bigint NOT NULL,
	"last_successful_ingestion_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trust_counts" (
	"name" text COLLATE "C" NOT NULL,
	"chain_id" bigint NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "trust_counts_name_chain_id_pk" PRIMARY KEY("name","chain_id")
);
--> statement-breakpoint
CREATE TABLE "trust_registry" (
	"id" integer PRIMARY KEY NOT NULL,
	"generation" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ingestions" ADD CONSTRAINT "ingestions_service_provider_id_service_providers_id_fk" FOREIGN KEY ("service_provider_id") REFERENCES "public"."service_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "methodologies" ADD CONSTRAINT "methodologies_lender_id_lenders_id_fk" FOREIGN KEY ("lender_id") REFERENCES "public"."lenders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service_provider_status_history" ADD CONSTRAINT "service_provider_status_history_service_provider_id_service_providers_id_fk" FOREIGN KEY ("service_provider_id") REFERENCES "public"."service_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "attestations_attester" ON "attestations" USING btree ("attester","schema","block_at");--> statement-breakpoint
CREATE INDEX "attestations_block" ON "attestations" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "attestations_revoked" ON "attestations" USING btree ("chain_id","revoked_block") WHERE revoked_block is not null;--> statement-breakpoint
CREATE INDEX "attester_wallets_address" ON "attester_wallets" USING btree ("address","from_at");--> statement-breakpoint
CREATE INDEX "attester_wallets_owner" ON "attester_wallets" USING btree ("owner","owner_id");--> statement-breakpoint
CREATE INDEX "chain_backfills_chain" ON "chain_backfills" USING btree ("chain_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "chain_backfills_address" ON "chain_backfills" USING btree ("chain_id","address","from_at");--> statement-breakpoint
CREATE UNIQUE INDEX "methodologies_version" ON "methodologies" USING btree ("lender_id","methodology_version");--> statement-breakpoint
CREATE UNIQUE INDEX "methodologies_hash" ON "methodologies" USING btree ("lender_id","content_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "methodologies_active" ON "methodologies" USING btree ("lender_id") WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "revocations_block" ON "revocations" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE UNIQUE INDEX "service_provider_status_history_position" ON "service_provider_status_history" USING btree ("service_provider_id","position");--> statement-breakpoint
CREATE INDEX "service_providers_status" ON "service_providers" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "service_providers_ranked" ON "service_providers" USING btree ("status",successful_ingestion_count desc,last_successful_ingestion_at desc,"id");--> statement-breakpoint
CREATE INDEX "service_providers_ranked_in" ON "service_providers" USING btree ("status","archetype",successful_ingestion_count desc,last_successful_ingestion_at desc,"id");--> statement-breakpoint
CREATE TRIGGER service_provider_status_history_kept BEFORE UPDATE OR DELETE ON service_provider_status_history FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER service_provider_status_history_not_truncated BEFORE TRUNCATE ON service_provider_status_history FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER attester_addresses_kept BEFORE UPDATE OR DELETE ON attester_addresses FOR EACH ROW EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
CREATE TRIGGER attester_addresses_not_truncated BEFORE TRUNCATE ON attester_addresses FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_credit_records();--> statement-breakpoint
INSERT INTO trust_registry (id, generation) VALUES (1, 0);--> statement-breakpoint
INSERT INTO trust_counts (name, chain_id, value)
SELECT 'lenders.total', 0, count(*) FROM lenders
UNION ALL SELECT 'lenders.active', 0, count(*) FROM lenders WHERE status = 'ACTIVE';
